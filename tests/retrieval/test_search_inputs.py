"""Embeddings and labels of every kind that callers have, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.retrieval.search import embeddings_of, labels_of

ROWS = [[3.0, 4.0], [0.0, -2.0], [5.0, 12.0]]
UNIT = [[0.6, 0.8], [0.0, -1.0], [5 / 13, 12 / 13]]


@pytest.mark.parametrize(
    "given_",
    [
        ROWS,
        np.array(ROWS),
        np.array(ROWS, dtype=np.float32),
        np.array(ROWS, dtype=np.float16),
        np.array(ROWS).T.copy().T,
        torch.tensor(ROWS),
        torch.tensor(ROWS, dtype=torch.float64),
        torch.tensor(ROWS, dtype=torch.bfloat16),
        torch.tensor(ROWS, requires_grad=True),
    ],
)
def test_embeddings_of_every_kind(given_: Any) -> None:
    for unit, known in ((False, ROWS), (True, UNIT)):
        found = embeddings_of("embeddings", given_, unit)
        assert found.dtype == torch.float32
        assert found.device.type == "cpu"
        assert not found.requires_grad
        torch.testing.assert_close(found, torch.tensor(known))


def test_what_was_given_stays_as_it_was() -> None:
    values = torch.tensor(ROWS)
    embeddings_of("embeddings", values, True)
    assert values.tolist() == ROWS


def test_an_embedding_of_zeros_stays_one() -> None:
    found = embeddings_of("embeddings", [[0.0, 0.0], [0.0, 7.0]], True)
    assert found.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_nothing_is_fine(shape: tuple[int, int], unit: bool) -> None:
    assert embeddings_of("embeddings", np.zeros(shape), unit).shape == shape


entry = st.floats(-1e6, 1e6, width=32)


@settings(max_examples=50)
@given(st.lists(st.lists(entry, min_size=3, max_size=3), min_size=1, max_size=5))
def test_directions_are_kept_and_lengths_are_one(rows: list[list[float]]) -> None:
    rows = [row for row in rows if max(map(abs, row)) > 1e-3] or [[1.0, 0.0, 0.0]]
    found = embeddings_of("embeddings", rows, True).numpy().astype(np.float64)
    exact = np.array(rows)
    np.testing.assert_allclose(found, exact / np.sqrt((exact**2).sum(1, keepdims=True)), atol=1e-6)
    np.testing.assert_allclose((found**2).sum(1), 1, atol=1e-6)


def test_finite_values_whose_sum_is_not_are_fine() -> None:
    big = float(torch.finfo(torch.float32).max)
    assert embeddings_of("embeddings", torch.full((2, 2), big), False).tolist() == [[big] * 2] * 2


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        (1.0, r"queries must have shape \(items, dimension\), got \(\)"),
        ([1.0, 2.0], r"queries must have shape \(items, dimension\), got \(2,\)"),
        (np.ones((2, 3, 4)), r"queries must have shape \(items, dimension\), got \(2, 3, 4\)"),
        ([[1, 2]], r"queries must be a floating-point tensor, got torch.int64; pass queries.flo"),
        ([[True, False]], "queries must be a floating-point tensor, got torch.bool"),
        ([[1j, 2.0]], "queries must be a floating-point tensor, got torch.complex64"),
        ([[1.0, np.nan]], r"queries contains NaN \(1 of 2 values\).*look for an overflow"),
        (
            [[np.inf, 0.0], [1.0, -np.inf]],
            r"queries contains infinite values \(2 of 4\); look for an overflow in the model",
        ),
        ([[np.inf, -np.inf]], r"queries contains infinite values \(2 of 2\)"),
    ],
)
def test_what_is_wrong_with_embeddings_is_said_with_their_name(given_: Any, words: str) -> None:
    for unit in (True, False):
        with pytest.raises(ValueError, match=words):
            embeddings_of("queries", given_, unit)


@pytest.mark.parametrize(
    "given_",
    [
        [4, 0, 9],
        (4, 0, 9),
        np.array([4, 0, 9], dtype=np.uint8),
        np.array([4, 0, 9], dtype=np.int32),
        np.array([4, 1, 0, 1, 9, 1])[::2],
        torch.tensor([4, 0, 9]),
        torch.tensor([4, 0, 9], dtype=torch.int16),
    ],
)
def test_labels_of_every_kind(given_: Any) -> None:
    found = labels_of("labels", given_, 3)
    assert found.dtype == np.int64
    assert found.tolist() == [4, 0, 9]


def test_labels_may_be_negative_large_or_two() -> None:
    far = [-(2**62), 2**62 + 1]
    assert labels_of("labels", far, 2).tolist() == far
    assert labels_of("labels", torch.tensor([True, False]), 2).tolist() == [1, 0]
    assert labels_of("labels", np.zeros(0, dtype=np.int64), 0).shape == (0,)


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ([1, 2], r"labels must have one label per item, shape \(3,\), got \(2,\)"),
        ([1, 2, 3, 4], r"labels must have one label per item, shape \(3,\), got \(4,\)"),
        ([[1, 2, 3]], r"labels must have one label per item, shape \(3,\), got \(1, 3\)"),
        (7, r"labels must have one label per item, shape \(3,\), got \(\)"),
        ([1.0, 2.0, 3.0], "labels must hold whole numbers, got torch.float32"),
        (np.array([1, 2, np.nan]), "labels must hold whole numbers, got torch.float64"),
        ([1j, 2, 3], "labels must hold whole numbers, got torch.complex64"),
    ],
)
def test_what_is_wrong_with_labels_is_said_with_their_name(given_: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        labels_of("labels", given_, 3)


def test_the_name_is_that_of_the_argument() -> None:
    with pytest.raises(ValueError, match=r"^query_labels must have one label per item"):
        labels_of("query_labels", [1], 2)


@pytest.mark.parametrize("size", [1e-44, 1e-30, 1e20, 3e38])
def test_very_large_and_very_small_embeddings_have_length_one(size: float) -> None:
    found = embeddings_of("embeddings", torch.tensor([[size, size], [0.0, 0.0]]), True)
    assert found.norm(dim=1).tolist() == pytest.approx([1.0, 0.0])


def test_what_single_precision_cannot_hold_is_refused() -> None:
    given_ = torch.tensor([[1e39, 0.0]], dtype=torch.float64)
    for unit in (True, False):
        with pytest.raises(ValueError, match=r"embeddings contains infinite values \(1 of 2\)"):
            embeddings_of("embeddings", given_, unit)
