"""Cells that fit a gallery and cells that do not, and recall in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.retrieval import ApproximateSearch
from rankwise.retrieval.approximate import Cells, Recall


def good() -> Cells:
    """Five items of two dimensions in three cells."""
    centers = np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    return Cells(centers, np.array([0, 1, 2, 2, 0]), 2)


def test_cells_of_the_gallery_pass() -> None:
    good().check(5, 2)
    replace(good(), probes=1).check(5, 2)
    replace(good(), probes=3).check(5, 2)
    replace(good(), cell=np.zeros(5, dtype=np.int64)).check(5, 2)  # two cells may be empty


@pytest.mark.parametrize(
    "changes",
    [
        {"centers": np.ones((3, 3), dtype=np.float32)},
        {"centers": np.ones((3, 1), dtype=np.float32)},
        {"centers": np.ones(3, dtype=np.float32)},
        {"centers": np.ones((3, 2, 1), dtype=np.float32)},
        {"centers": np.ones((3, 2))},
        {"centers": np.ones((3, 2), dtype=np.int32)},
        {"centers": np.array([[1, 0], [0, np.nan], [1, 1]], dtype=np.float32)},
        {"centers": np.array([[1, 0], [0, 1], [-np.inf, 1]], dtype=np.float32)},
        {"centers": np.ones((0, 2), dtype=np.float32)},
        {"centers": np.ones((2, 2), dtype=np.float32)},  # the third has items
        {"cell": np.zeros(4, dtype=np.int64)},
        {"cell": np.zeros(6, dtype=np.int64)},
        {"cell": np.zeros((5, 1), dtype=np.int64)},
        {"cell": np.zeros(5, dtype=np.int32)},
        {"cell": np.zeros(5)},
        {"cell": np.array([0, 1, 2, 3, 0])},
        {"cell": np.array([0, 1, 2, -1, 0])},
        {"probes": 0},
        {"probes": -1},
        {"probes": 4},
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cells must be those of the gallery of 5 × 2"):
        replace(good(), **changes).check(5, 2)


def test_the_gallery_that_they_were_checked_against_is_named() -> None:
    with pytest.raises(ValueError, match="cells must be those of the gallery of 6 × 2"):
        good().check(6, 2)
    with pytest.raises(ValueError, match="cells must be those of the gallery of 5 × 3"):
        good().check(5, 3)


def test_a_gallery_of_nothing_has_a_cell_yet() -> None:
    centers = np.ones((1, 2), dtype=np.float32)
    Cells(centers, np.zeros(0, dtype=np.int64), 1).check(0, 2)


@settings(max_examples=50)
@given(st.integers(1, 4), st.lists(st.integers(-2, 5), max_size=6), st.integers(-1, 6))
def test_every_item_is_in_a_cell_and_some_cell_is_looked_into(
    cells: int, cell: list[int], probes: int
) -> None:
    made = Cells(np.ones((cells, 3), dtype=np.float32), np.array(cell, dtype=np.int64), probes)
    if all(each in range(cells) for each in cell) and probes in range(1, cells + 1):
        made.check(len(cell), 3)
    else:
        with pytest.raises(ValueError, match=f"cells must be .* of {len(cell)} × 3"):
            made.check(len(cell), 3)


def test_a_search_takes_its_own_cells_again_and_no_others() -> None:
    gallery = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    made = ApproximateSearch(gallery, cells=4, probes=2).cells
    made.check(40, 3)
    again = ApproximateSearch(gallery, cells=made)
    assert again.cells is made
    outside = made.cell.copy()
    outside[7] = 4
    with pytest.raises(ValueError, match="cells must be those of the gallery of 40 × 3"):
        ApproximateSearch(gallery, cells=replace(made, cell=outside))


@pytest.mark.parametrize(
    ("recall", "words"),
    [
        (Recall(10, 0.95, 0.01, 1000), "recall@10 0.9500 ± 0.0196 of 1,000 queries"),
        (Recall(1, 1.0, 0.0, 256), "recall@1 1.0000 ± 0.0000 of 256 queries"),
        (Recall(5, 2 / 3, 0.5, 12), "recall@5 0.6667 ± 0.9800 of 12 queries"),
    ],
)
def test_recall_is_said_with_its_interval(recall: Recall, words: str) -> None:
    assert str(recall) == words
