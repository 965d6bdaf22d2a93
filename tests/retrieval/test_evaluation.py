from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.metrics import average_precision, hit_at_k, map_at_r, r_precision
from rankwise.retrieval import evaluate


def worst_order(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    """0/1 down the list, by a sort: highest first, wrong before right where they tie."""
    return right[np.lexsort((right, -scores))]


def by_sorting(gallery, labels, queries, query_labels, leave_out: bool):
    """AP, rank of the first right item, R-precision and MAP@R of every query with a right item."""
    values = []
    for i, (query, label) in enumerate(zip(queries, query_labels, strict=True)):
        there = np.ones(len(labels), dtype=bool)
        there[i] = not leave_out
        order = worst_order((gallery @ query)[there], (labels == label)[there])
        if not order.any():
            continue
        ranks = np.flatnonzero(order) + 1
        total = len(ranks)
        precision = np.arange(1, total + 1) / ranks
        early = ranks <= total
        values.append([precision.mean(), ranks[0], early.mean(), (precision * early).mean()])
    return np.array(values)


@pytest.mark.parametrize("classes", [2, 5, 60])
@pytest.mark.parametrize("levels", [3, 100])
def test_equal_to_a_sort_with_ties(classes, levels):
    rng = np.random.default_rng(classes)
    # Whole numbers, so that scores are exact and tie often.
    gallery = rng.integers(-levels, levels, size=(600, 4)).astype(np.float32)
    labels = rng.integers(0, classes, size=600)
    found = evaluate(gallery, labels, hits=(1, 5), similarity="dot")
    known = by_sorting(gallery, labels, gallery, labels, leave_out=True)
    assert found.map == pytest.approx(known[:, 0].mean(), abs=1e-12)
    assert found.hit_at[1] == (known[:, 1] <= 1).mean()
    assert found.hit_at[5] == (known[:, 1] <= 5).mean()
    assert found.r_precision == pytest.approx(known[:, 2].mean(), abs=1e-12)
    assert found.map_at_r == pytest.approx(known[:, 3].mean(), abs=1e-12)
    assert found.queries + found.left_out == 600
    queries = rng.integers(-levels, levels, size=(40, 4)).astype(np.float32)
    asked = rng.integers(0, classes + 1, size=40)
    found = evaluate(gallery, labels, queries, asked, similarity="dot")
    known = by_sorting(gallery, labels, queries, asked, leave_out=False)
    assert found.map == pytest.approx(known[:, 0].mean(), abs=1e-12)
    assert found.left_out == 40 - len(known)
    values = found.average_precision[~np.isnan(found.average_precision)]
    np.testing.assert_allclose(values, known[:, 0], atol=1e-12)  # in the order of the queries


def test_equal_to_the_metrics_of_lists():
    torch.manual_seed(0)
    embeddings, labels = torch.randn(90, 8), torch.arange(90) // 6
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    mask = ~torch.eye(90, dtype=torch.bool)
    lists = (unit @ unit.T, labels == labels.unsqueeze(1))
    found = evaluate(embeddings, labels)
    assert found.map == pytest.approx(float(average_precision(*lists, mask=mask)))
    assert found.hit_at[10] == pytest.approx(float(hit_at_k(*lists, mask=mask, k=10)))
    assert found.r_precision == pytest.approx(float(r_precision(*lists, mask=mask)))
    assert found.map_at_r == pytest.approx(float(map_at_r(*lists, mask=mask)))
    own = average_precision(*lists, mask=mask, average="none")
    for label, value in found.per_class.items():
        assert value == pytest.approx(float(own[labels == label].mean()))
    assert found.standard_error == pytest.approx(float(own.std()) / 90**0.5)


@settings(max_examples=20)
@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 999))
def test_the_order_of_the_items_does_not_matter(items, classes, seed):
    rng = np.random.default_rng(seed)
    gallery = rng.integers(-2, 3, size=(items, 3)).astype(np.float32)
    labels = np.append(rng.integers(0, classes, size=items - 1), 0)
    labels[0] = 0
    order = rng.permutation(items)
    one = evaluate(gallery, labels, similarity="dot")
    other = evaluate(gallery[order], labels[order], similarity="dot")
    assert one.map == pytest.approx(other.map, abs=1e-12)
    np.testing.assert_allclose(one.average_precision[order], other.average_precision, atol=1e-12)


def test_an_exact_copy_is_found_and_the_query_itself_is_not():
    embeddings = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    found = evaluate(embeddings, torch.tensor([0, 0, 1, 1]))
    # The copies find each other first. [.6, .8] is nearer to [0, 1] than to the two; so is [0, 1].
    assert found.average_precision.tolist() == [1, 1, 1, 1]
    mixed = evaluate(embeddings, torch.tensor([0, 1, 0, 1]))
    # Both copies have a copy of another class in front; for [.6, .8] one right item ties with a
    # wrong one behind a wrong one, and so on.
    assert mixed.average_precision[0] == pytest.approx(1 / 2)
    assert mixed.average_precision[2] == pytest.approx(1 / 3)
    assert mixed.hit_at[1] == 0


def test_what_has_nothing_to_find_is_counted():
    found = evaluate(torch.randn(5, 3), torch.tensor([0, 0, 1, 2, 2]))
    assert (found.queries, found.left_out, found.gallery) == (4, 1, 5)
    assert np.isnan(found.average_precision[2])
    assert set(found.per_class) == {0, 2}
    assert "1 with nothing to find" in str(found)


def test_the_mean_curve_by_hand():
    # One query, right items at ranks 1 and 4: precision 1 up to recall 1/2, then 1/2.
    gallery = np.array([[4.0], [3.0], [2.0], [1.0]], dtype=np.float32)
    found = evaluate(gallery, [1, 0, 0, 1], np.ones((1, 1), np.float32), [1], similarity="dot")
    assert found.precision[:51].tolist() == [1.0] * 51
    assert found.precision[51:].tolist() == [0.5] * 50
    assert found.recall[50] == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (torch.randn(3), [0, 1, 2]),
            r"embeddings must have shape .*, got \(3,\)",
        ),
        (
            (torch.randn(3, 2), [0, 1]),
            r"labels must have one label per item, .* got \(2,\)",
        ),
        ((torch.randn(3, 2), [0.0, 1.0, 1.0]), "labels must hold whole numbers, got torch.float32"),
        ((torch.randn(3, 2) / 0 * 0, [0, 1, 1]), "embeddings contains NaN"),
        ((torch.randn(3, 2), [0, 1, 2]), "labels must have a class with two items"),
        (
            (torch.randn(3, 2), [0, 1, 1], torch.randn(1, 2)),
            "queries and query_labels must be",
        ),
        (
            (torch.randn(3, 2), [0, 1, 1], torch.randn(1, 3), [1]),
            "queries must have the 2 dim",
        ),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(*arguments)


def test_options_are_named():
    with pytest.raises(ValueError, match="similarity must be one of 'cosine', 'dot', got 'l2'"):
        evaluate(torch.randn(3, 2), [0, 1, 1], similarity="l2")
    with pytest.raises(ValueError, match="hits must be a whole number >= 1, got 0"):
        evaluate(torch.randn(3, 2), [0, 1, 1], hits=(0,))
