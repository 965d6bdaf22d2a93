"""Train a text encoder on average precision with SentenceTransformerTrainer, then search."""

import tempfile

import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

from rankwise.objectives import AveragePrecision
from rankwise.retrieval import nearest
from rankwise.text import BiEncoderLoss, SearchEvaluator, TextCollection


def main() -> tuple[float, float]:
    """Train from scratch; return the mean AP of new queries before and after."""
    torch.manual_seed(0)
    tokenizer = Tokenizer(models.WordLevel({str(w): w for w in range(800)}, unk_token="0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    embedding = StaticEmbedding(tokenizer, embedding_dim=32)
    encoder = SentenceTransformer(modules=[embedding], device="cpu")

    topics = torch.arange(600) % 40  # queries use other words than the documents of their topic
    texts = torch.randint(0, 800, (600, 6))
    texts[:300, :3] = topics[:300, None] * 10 + torch.randint(0, 10, (300, 3))
    texts[300:, :3] = 400 + topics[300:, None] * 10 + torch.randint(0, 10, (300, 3))
    words = [" ".join(map(str, row)) for row in texts.tolist()]
    queries, documents = dict(enumerate(words[:300])), dict(enumerate(words[300:]))

    def relevant(rows: range) -> dict[int, dict[int, int]]:
        return {q: {d: 1 for d in documents if topics[300 + d] == topics[q]} for q in rows}

    train = TextCollection(queries, documents, relevant(range(200)))
    evaluator = SearchEvaluator(TextCollection(queries, documents, relevant(range(200, 300))))
    before = evaluator(encoder)["ap"]
    quiet = {"report_to": "none", "save_strategy": "no", "use_cpu": True, "disable_tqdm": True}
    steps = {"per_device_train_batch_size": 128, "num_train_epochs": 8, "learning_rate": 0.05}
    with tempfile.TemporaryDirectory() as folder:
        trainer = SentenceTransformerTrainer(
            encoder,
            SentenceTransformerTrainingArguments(folder, **steps, **quiet),
            train_dataset=Dataset.from_dict(train.pairs()),
            loss=BiEncoderLoss(encoder, AveragePrecision(outer="log"), collection=train),
        )
        trainer.train()
    after = evaluator(encoder)["ap"]
    print(f"mean AP: {before:.3f} before, {after:.3f} after")
    found = nearest(encoder.encode_document(words[300:]), encoder.encode_query(words[299:300]), k=5)
    print(f"nearest documents of the last query: {found.rows[0].tolist()}")
    return before, after


if __name__ == "__main__":
    main()
