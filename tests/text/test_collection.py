from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from rankwise.retrieval import Nearest
from rankwise.text import TextCollection

QUERIES = {"a": "first", "b": "second", "c": "third"}
DOCUMENTS = {7: "seven", 8: "eight", 9: "nine"}
QRELS = {"c": {9: 1, 7: 2}, "a": {8: 1, 9: 0}, "b": {7: 0, 8: -1}}


def test_queries_without_a_relevant_document_are_left_out():
    collection = TextCollection(QUERIES, DOCUMENTS, QRELS)
    assert collection.query_ids == ["c", "a"]
    assert collection.queries == ["third", "first"]
    assert collection.num_pairs == 3
    assert collection.prior == pytest.approx((2 / 3 + 1 / 3) / 2)


def test_relevance_is_that_of_the_qrels():
    collection = TextCollection(QUERIES, DOCUMENTS, QRELS)
    found = collection.relevance(torch.tensor([1, 0]), torch.arange(3))
    assert found.grades.tolist() == [[0, 1, 0], [2, 0, 1]]
    assert found.pairs.tolist() == [[0, 2, 0], [0, 0, 1]]


def test_pairs_and_lists_are_columns_of_a_data_set():
    collection = TextCollection(QUERIES, DOCUMENTS, QRELS)
    negatives = Nearest(np.array([[0.5, -np.inf], [0.4, 0.3]]), np.array([[1, -1], [0, 2]]))
    assert collection.pairs() == {
        "query": ["third", "third", "first"],
        "document": ["seven", "nine", "eight"],
        "label": [[0, 0], [0, 2], [1, 1]],
    }
    assert collection.pairs(negatives) == {  # query 0 has too few negatives
        "query": ["first"],
        "document": ["eight"],
        "negative_1": ["seven"],
        "negative_2": ["nine"],
        "label": [[1, 1, 0, 2]],
    }
    assert collection.lists(negatives) == {
        "query": ["third", "first"],
        "documents": [["seven", "nine", "eight"], ["eight", "seven", "nine"]],
        "labels": [[2, 1, 0], [1, 0, 0]],
    }


@pytest.mark.parametrize(
    ("qrels", "words"),
    [
        ({"x": {7: 1}}, "queries that are given, got 'x'"),
        ({"a": {1: 0}}, "documents that are given, got 1 for query 'a'"),
        ({"a": {7: math.nan}}, "finite grades, got nan for document 7"),
        ({"a": {7: 0}}, "a grade above 0, got none"),
    ],
)
def test_what_cannot_be_used_is_named(qrels, words):
    with pytest.raises(ValueError, match=words):
        TextCollection(QUERIES, DOCUMENTS, qrels)


def test_negatives_of_another_collection_are_refused():
    collection = TextCollection(QUERIES, DOCUMENTS, QRELS)
    with pytest.raises(ValueError, match="one row for each of the 2 queries, got 1"):
        collection.lists(Nearest(np.zeros((1, 1)), np.zeros((1, 1), np.int64)))
