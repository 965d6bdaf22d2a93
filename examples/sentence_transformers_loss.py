"""Train a sentence-transformers model with a retrieval loss: each sentence ranks the others."""

from collections.abc import Iterable

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor, nn

from rankwise import embedding_scores, metrics, objectives, samplers


class RetrievalLoss(nn.Module):
    """Retrieval loss with the call of SentenceTransformerTrainer: sentences and labels."""

    def __init__(self, model: SentenceTransformer, classes: int) -> None:
        super().__init__()
        self.model = model
        self.objective = objectives.SOPRC(prior=1 / classes, num_lists=classes)

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        (features,) = sentence_features
        lists = embedding_scores(self.model(features)["sentence_embedding"], labels)
        return self.objective(lists.scores, lists.target, mask=lists.mask, list_ids=labels)


def main() -> tuple[float, float]:
    """Train from scratch; return the mean AP on new sentences before and after."""
    torch.manual_seed(0)
    tokenizer = Tokenizer(models.WordLevel({str(w): w for w in range(400)}, unk_token="0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    embedding = StaticEmbedding(tokenizer, embedding_dim=32)
    model = SentenceTransformer(modules=[embedding], device="cpu")
    labels = torch.arange(1_200) % 20
    words = torch.randint(0, 400, (1_200, 8))  # three depend on the class, five are random
    words[:, :3] = labels.unsqueeze(1) * 10 + torch.randint(0, 10, (1_200, 3))
    sentences = [" ".join(map(str, row)) for row in words.tolist()]

    def test_precision() -> float:
        embeddings = model.encode(sentences[800:], convert_to_tensor=True)
        lists = embedding_scores(embeddings, labels[800:])
        return float(metrics.average_precision(lists.scores, lists.target, mask=lists.mask))

    before = test_precision()
    loss, optimizer = RetrievalLoss(model, 20), torch.optim.Adam(model.parameters(), lr=0.01)
    batches = samplers.ClassBatches(labels[:800], classes=10, per_class=8)
    for _ in range(10):  # SentenceTransformerTrainer(model, loss=loss, ...) does the same step
        for batch in batches:
            optimizer.zero_grad()
            features = model.preprocess([sentences[item] for item in batch])
            loss([features], labels[batch]).backward()
            optimizer.step()
    after = test_precision()
    print(f"mean AP: {before:.3f} before, {after:.3f} after")
    return before, after


if __name__ == "__main__":
    main()
