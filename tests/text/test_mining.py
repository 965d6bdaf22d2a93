from __future__ import annotations

import numpy as np
import pytest
from datasets import Dataset
from sentence_transformers.util import mine_hard_negatives

from rankwise.text import TextCollection, hard_negatives

OPTIONS = [
    {},
    {"range_min": 2},
    {"max_score": 0.97},
    {"absolute_margin": 0.02},
    {"relative_margin": 0.05},
    {"range_min": 1, "range_max": 12, "relative_margin": 0.01},
]


@pytest.fixture(scope="module")
def single(collection):
    """One relevant document for each query, where their rule and ours are the same."""
    queries = dict(enumerate(collection.queries))
    documents = dict(enumerate(collection.documents))
    return TextCollection(queries, documents, {row: {row: 1} for row in queries})


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_rows_are_those_of_sentence_transformers(encoder, single, options):
    pairs = single.pairs()
    theirs = mine_hard_negatives(
        Dataset.from_dict({name: pairs[name] for name in ("query", "document")}),
        encoder,
        corpus=single.documents,
        num_negatives=2,
        output_format="n-tuple",
        verbose=False,
        **options,
    )
    ours = single.pairs(hard_negatives(encoder, single, num_negatives=2, **options))
    for name in ("query", "document", "negative_1", "negative_2"):
        assert ours[name] == list(theirs[name])
    assert ours["query"]


def test_no_relevant_document_is_mined(encoder, collection):
    found = hard_negatives(encoder, collection, num_negatives=30)
    query_rows, document_rows = collection.pair_rows
    for query, row in zip(query_rows, document_rows, strict=True):
        assert row not in found.rows[query]
    present = found.rows >= 0
    assert [len(set(row[row >= 0])) for row in found.rows] == present.sum(1).tolist()
    assert (np.diff(found.scores, axis=1) <= 0).all()


def test_the_text_of_a_relevant_document_is_not_mined_under_another_id(encoder):
    documents = {"a": "w1 w2", "b": "w1 w2", "c": "w3"}
    collection = TextCollection({"q": "w1 w2"}, documents, {"q": {"a": 1}})
    assert hard_negatives(encoder, collection, num_negatives=2).rows.tolist() == [[2, -1]]


def test_random_negatives_are_drawn_from_the_range(encoder, collection):
    options = {"num_negatives": 2, "range_min": 3, "range_max": 10}
    ranked = hard_negatives(encoder, collection, num_negatives=10).rows
    drawn = [hard_negatives(encoder, collection, sampling="random", seed=seed, **options).rows
             for seed in (0, 0, 1)]  # fmt: skip
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    for found, allowed in zip(drawn[0], ranked, strict=True):
        assert set(found) <= set(allowed[3:])


def test_the_approximate_search_of_all_cells_is_exact(encoder, collection):
    pytest.importorskip("faiss")
    exact, other = (
        hard_negatives(encoder, collection, num_negatives=2, search=search)
        for search in ("exact", "approximate")
    )
    assert (exact.rows == other.rows).mean() > 0.9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_negatives": 0}, "num_negatives"),
        ({"range_min": -1}, "range_min"),
        ({"range_min": 2, "range_max": 3, "num_negatives": 2}, "range_min \\+ num_negatives = 4"),
        ({"sampling": "best"}, "sampling"),
        ({"search": "ivf"}, "search"),
        ({"max_score": float("nan")}, "max_score"),
    ],
)
def test_options_are_checked(encoder, collection, options, words):
    with pytest.raises(ValueError, match=words):
        hard_negatives(encoder, collection, **options)
