from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from rankwise.retrieval import ApproximateSearch, nearest


def gallery(items: int = 2000, seed: int = 0) -> Tensor:
    """Points of 4 dimensions, bent into 12."""
    generator = torch.Generator().manual_seed(seed)
    bend = torch.randn(4, 12, generator=torch.Generator().manual_seed(9))
    return torch.sin(torch.randn(items, 4, generator=generator) @ bend)


def test_all_cells_are_the_exact_search():
    known, queries = gallery(), gallery(50, seed=1)
    search = ApproximateSearch(known, cells=20, probes=1000)
    assert search.cells.probes == 20
    found, exact = search.search(queries, 7), nearest(known, queries, 7)
    assert found.rows.tolist() == exact.rows.tolist()
    np.testing.assert_allclose(found.scores, exact.scores, atol=1e-5)
    assert search.recall(queries).mean == 1
    assert search.recall().mean == 1


def test_one_cell_of_many_misses_what_it_says_it_misses():
    known, queries = gallery(), gallery(300, seed=1)
    search = ApproximateSearch(known, cells=50, probes=1)
    said = search.recall(queries, k=5)
    found, exact = search.search(queries, 5), nearest(known, queries, 5)
    both = [len({*a} & {*b}) / 5 for a, b in zip(found.rows, exact.rows, strict=True)]
    assert said.mean == pytest.approx(np.mean(both), abs=1e-3)
    assert said.standard_error == pytest.approx(np.std(both, ddof=1) / 300**0.5, rel=0.01)
    assert 0.2 < said.mean < 0.95
    assert str(said).startswith(f"recall@5 {said.mean:.4f} ± ")
    assert search.recall(queries, sample=40).queries == 40


def test_without_queries_an_item_is_left_out_of_its_own():
    known = gallery(400)
    search = ApproximateSearch(known, cells=20, probes=1)
    exact = nearest(known, known, 4).rows[:, 1:]
    found = [[r for r in row if r != i][:3] for i, row in enumerate(search.search(known, 4).rows)]
    both = [len({*a} & {*b}) / 3 for a, b in zip(found, exact, strict=True)]
    assert search.recall(k=3).mean == pytest.approx(np.mean(both), abs=1e-3)


def test_probes_are_chosen_by_the_recall_that_is_wanted():
    known, queries = gallery(), gallery(300, seed=1)
    low, high = (ApproximateSearch(known, recall=r, cells=64) for r in (0.5, 0.98))
    assert low.cells.probes < high.cells.probes < 64
    assert high.recall(queries).mean > 0.95
    assert len(ApproximateSearch(known).cells.centers) == 90  # 2√2000


def test_cells_made_before_give_the_same_search():
    known, queries = gallery(), gallery(20, seed=1)
    first = ApproximateSearch(known, cells=30)
    again = ApproximateSearch(known, cells=first.cells)
    assert again.cells is first.cells
    for one, other in zip(first.search(queries), again.search(queries), strict=True):
        np.testing.assert_array_equal(one, other)


def test_cells_of_something_else_are_refused():
    known = gallery(40)
    cells = ApproximateSearch(known, cells=4).cells
    outside = cells.cell.copy()
    outside[3] = 4
    for wrong in (
        replace(cells, cell=outside),
        replace(cells, cell=cells.cell[:-1]),
        replace(cells, cell=cells.cell.astype(np.int32)),
        replace(cells, centers=cells.centers[:, :3]),
        replace(cells, centers=cells.centers * np.float32(np.nan)),
        replace(cells, probes=0),
    ):
        with pytest.raises(ValueError, match="cells must be those of the gallery of 40 × 12"):
            ApproximateSearch(known, cells=wrong)


def test_copies_count_as_found():
    known = torch.ones(30, 3)
    assert ApproximateSearch(known, cells=3, probes=3).recall(k=5).mean == 1


def test_fewer_than_asked_for():
    search = ApproximateSearch(torch.eye(3), cells=3, probes=1)
    found = search.search(torch.eye(3), 2)
    assert found.rows[:, 0].tolist() == [0, 1, 2]
    assert found.rows[:, 1].tolist() == [-1, -1, -1]
    assert np.isneginf(found.scores[:, 1]).all()
    one = ApproximateSearch(torch.ones(1, 3))
    assert one.search(torch.ones(1, 3), 1).rows.tolist() == [[0]]
    assert one.recall().mean == 1  # alone, it has nothing to find


def test_bad_input():
    with pytest.raises(ValueError, match="recall must be in"):
        ApproximateSearch(gallery(10), recall=1.5)
    with pytest.raises(ValueError, match="embeddings must have at least one item"):
        ApproximateSearch(torch.zeros(0, 3))
    with pytest.raises(ValueError, match="cells must be"):
        ApproximateSearch(gallery(10), cells=0)
    with pytest.raises(ValueError, match="queries must have the 12 dimensions"):
        ApproximateSearch(gallery(10)).search(torch.ones(2, 3))


def test_without_faiss_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    line = r'rankwise.retrieval needs faiss-cpu: pip install "rankwise\[vision\]"'
    with pytest.raises(ImportError, match=line):
        ApproximateSearch(gallery(10))
