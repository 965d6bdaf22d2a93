from __future__ import annotations

import pytest
import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

from rankwise.objectives import NDCG, SOAP, SOPRC, AveragePrecision, ListNet, OneVsRest, PairwiseAUC
from rankwise.text import BiEncoderLoss, SearchEvaluator


def gradients(model, loss, columns, labels=None):
    """The value, and the gradient of every parameter, from the same random numbers."""
    model.train()
    model.zero_grad()
    torch.manual_seed(1)
    value = loss([model.preprocess(column) for column in columns], labels)
    value.backward()
    return value.item(), {
        name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None
    }


def assert_equal(one, other):
    assert one[0] == pytest.approx(other[0], rel=1e-5)
    assert one[1].keys() == other[1].keys()
    for name, gradient in one[1].items():
        torch.testing.assert_close(gradient, other[1][name], rtol=1e-4, atol=1e-6)


def batch(collection, rows):
    columns = collection.pairs()
    labels = torch.tensor([columns["label"][row] for row in rows])
    return [[columns[name][row] for row in rows] for name in ("query", "document")], labels


@pytest.mark.parametrize("negatives", [0, 2])
def test_a_softmax_is_multiple_negatives_ranking(encoder, collection, negatives):
    """With one relevant document for each query, the first, a softmax is their loss."""
    (queries, documents), _ = batch(collection, (0, 5, 9, 14))
    others = [collection.documents[30 + 4 * n : 34 + 4 * n] for n in range(negatives)]
    columns = [queries, documents, *others]
    ours = gradients(encoder, BiEncoderLoss(encoder, ListNet("uniform"), scale=7.0), columns)
    theirs = MultipleNegativesRankingLoss(encoder, scale=7.0)
    assert_equal(ours, gradients(encoder, theirs, columns))


@pytest.mark.parametrize("objective", [AveragePrecision(outer="log"), NDCG()], ids=["ap", "ndcg"])
def test_every_relevant_document_of_the_batch_counts_once(encoder, collection, objective):
    encoder.double()  # texts are padded to other lengths below, which rounds float32 otherwise
    rows = (0, 1, 2, 3, 4, 8, 1)  # several of query 0, a document of two queries, a row twice
    columns, labels = batch(collection, rows)
    found = gradients(
        encoder, BiEncoderLoss(encoder, objective, collection=collection), columns, labels
    )[0]
    queries, documents = dict.fromkeys(labels[:, 0].tolist()), dict.fromkeys(labels[:, 1].tolist())
    grades = torch.zeros(len(queries), len(documents))
    for i, query in enumerate(queries):
        for j, document in enumerate(documents):
            grades[i, j] = collection.relevance(
                torch.tensor([query]), torch.tensor([document])
            ).grades
    assert (grades > 0).sum(1).max() > 1
    encoder.train()
    embedded = [
        encoder(encoder.preprocess(texts))["sentence_embedding"]
        for texts in (
            [collection.queries[q] for q in queries],
            [collection.documents[d] for d in documents],
        )
    ]
    scores = 20 * torch.nn.functional.cosine_similarity(embedded[0][:, None], embedded[1], dim=2)
    target = grades if objective.graded else grades > 0
    assert found == pytest.approx(objective(scores, target).item(), rel=1e-10)


def test_labels_without_a_collection_are_grades(encoder, collection):
    (queries, documents), _ = batch(collection, (0, 5, 9))
    others = collection.documents[30:33]
    grades = torch.tensor([[2, 1], [1, 0], [0, 3]])
    loss = BiEncoderLoss(encoder, NDCG(), scale=3.0)
    found = gradients(encoder, loss, [queries, documents, others], grades)[0]
    embedded = [
        encoder(encoder.preprocess(t))["sentence_embedding"] for t in (queries, documents + others)
    ]
    scores = 3 * torch.nn.functional.cosine_similarity(embedded[0][:, None], embedded[1], dim=2)
    target = torch.cat([torch.diag(grades[:, 0]), torch.diag(grades[:, 1])], 1).float()
    assert found == pytest.approx(NDCG()(scores, target).item(), rel=1e-5)
    one = gradients(encoder, loss, [queries, documents], grades[:, 0])
    assert_equal(one, gradients(encoder, loss, [queries, documents], grades[:, :1]))


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("objective", ["ap", "memory"])
def test_cached_gradients_are_those_of_the_whole_batch(encoder, collection, objective, size):
    columns, labels = batch(collection, range(9))
    encoder.double()  # mini-batches of other widths round otherwise

    def made():
        if objective == "ap":
            return AveragePrecision(outer="log")
        return SOPRC(prior=collection.prior, num_lists=len(collection.queries))

    losses = [
        BiEncoderLoss(encoder, made(), collection=collection, mini_batch_size=n)
        for n in (None, size)
    ]
    plain, cached = (gradients(encoder, loss, columns, labels) for loss in losses)
    assert_equal(cached, plain)
    memories = [loss.objective.state_dict() for loss in losses]
    for name, buffer in memories[0].items():  # updated once, not once a pass
        torch.testing.assert_close(memories[1][name], buffer)


def test_the_second_pass_has_the_dropout_of_the_first(dropping_encoder, collection):
    """A mini-batch as large as a column draws the same numbers as no caching."""
    columns, labels = batch(collection, range(9))
    plain, cached = (
        gradients(
            dropping_encoder,
            BiEncoderLoss(dropping_encoder, ListNet(), collection=collection, mini_batch_size=n),
            columns,
            labels,
        )
        for n in (None, 9)
    )
    assert_equal(cached, plain)


def test_memories_are_kept_by_query_and_by_pair(encoder, collection):
    columns, labels = batch(collection, (3, 4, 8, 9))
    by_pair = SOAP(prior=collection.prior, num_items=collection.num_pairs)
    gradients(encoder, BiEncoderLoss(encoder, by_pair, collection=collection), columns, labels)
    seen = by_pair.state_dict()["average.seen"]
    pairs = zip(*collection.pair_rows, strict=True)
    present = [n for n, (q, d) in enumerate(pairs) if q in labels[:, 0] and d in labels[:, 1]]
    assert set(present) > {3, 4, 8, 9}  # and a document of another query's row
    assert seen.nonzero().flatten().tolist() == present
    by_query = SOPRC(prior=collection.prior, num_lists=len(collection.queries))
    gradients(encoder, BiEncoderLoss(encoder, by_query, collection=collection), columns, labels)
    seen = by_query.state_dict()["vector.seen"]
    assert seen.nonzero().flatten().tolist() == labels[:, 0].unique().tolist()


@pytest.mark.filterwarnings("ignore:.*no list of this batch has:RuntimeWarning")
def test_one_document_alone_is_zero_with_a_graph(encoder, collection):
    columns, labels = batch(collection, (0,))
    for loss in (
        BiEncoderLoss(encoder, ListNet()),
        BiEncoderLoss(encoder, SOAP(prior=0.1, num_items=99), collection=collection),
        BiEncoderLoss(encoder, ListNet(), mini_batch_size=2),
    ):
        given = None if loss.num_documents is None else labels
        assert gradients(encoder, loss, columns, given)[0] == 0


def test_the_trainer_trains_with_it(encoder, collection, tmp_path):
    evaluator = SearchEvaluator(collection, ["ap", "recall@5"], name="all")
    before = evaluator(encoder)
    loss = BiEncoderLoss(
        encoder, AveragePrecision(outer="log"), collection=collection, mini_batch_size=16
    )
    trainer = SentenceTransformerTrainer(
        encoder,
        SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path),
            per_device_train_batch_size=27,
            max_steps=30,
            learning_rate=1e-2,
            eval_strategy="steps",
            eval_steps=30,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=True,
            logging_strategy="no",
        ),
        train_dataset=Dataset.from_dict(collection.pairs()),
        loss=loss,
        evaluator=evaluator,
    )
    trainer.train()
    found = trainer.evaluate()
    assert found["eval_all_ap"] > before["all_ap"] + 0.3
    assert evaluator.primary_metric == "all_ap"
    assert loss.get_config_dict()["mini_batch_size"] == 16


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (None, r"whole numbers of shape \(2, 2\), got none"),
        (torch.zeros(2, 3, dtype=torch.long), r"got torch.int64 of \(2, 3\)"),
        (torch.zeros(2, 2), "got torch.float32"),
        (torch.tensor([[0, 0], [0, 40]]), "12 queries and 40 documents"),
    ],
)
def test_labels_that_are_no_rows_are_refused(encoder, collection, labels, words):
    columns, _ = batch(collection, (0, 1))
    with pytest.raises(ValueError, match=words):
        gradients(
            encoder, BiEncoderLoss(encoder, ListNet(), collection=collection), columns, labels
        )


def test_other_arguments_are_checked(encoder, collection):
    columns, _ = batch(collection, (0, 1))
    with pytest.raises(ValueError, match=r"shape \(2, 1\), got \(2, 2\)"):
        gradients(encoder, BiEncoderLoss(encoder, ListNet()), columns, torch.ones(2, 2))
    with pytest.raises(ValueError, match="one or more of documents, got 1 columns"):
        gradients(encoder, BiEncoderLoss(encoder, ListNet()), columns[:1])
    with pytest.raises(ValueError, match="must be an Objective, got OneVsRest"):
        BiEncoderLoss(encoder, OneVsRest(PairwiseAUC()))
    with pytest.raises(ValueError, match="reduction=\"mean\", got 'none'"):
        BiEncoderLoss(encoder, ListNet(reduction="none"))
    for options in ({"scale": 0.0}, {"mini_batch_size": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            BiEncoderLoss(encoder, ListNet(), **options)


def test_a_static_embedding_trains_whole_and_refuses_mini_batches():
    words = Tokenizer(models.WordLevel({"cat": 0, "dog": 1, "red": 2}, unk_token="red"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    static = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=4)], device="cpu")
    columns = [static.preprocess(texts) for texts in (["cat", "dog"], ["red cat", "red dog"])]
    BiEncoderLoss(static, ListNet("uniform"))([dict(each) for each in columns]).backward()
    assert static[0].embedding.weight.grad.abs().sum() > 0
    with pytest.raises(ValueError, match="mini_batch_size cannot cut the texts of a StaticEmb"):
        BiEncoderLoss(static, ListNet("uniform"), mini_batch_size=1)(columns)
