"""A cell from what was kept of a training, and the numbers of a test against brute force."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from tests.reproductions.retrieval.cells import CELL
from tests.reproductions.retrieval.tiny import plan

from rankwise.retrieval import evaluate
from reproductions.retrieval.benches import Scratch, Trial
from reproductions.retrieval.cell import FIRST, Cell, cell_of, evaluated, queries_of, ranks_of
from reproductions.retrieval.methods import METHODS


def vectors(n: int, seed: int = 0) -> torch.Tensor:
    drawn = torch.randn(n, 5, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(drawn, dim=1)


def brute_force(embeddings: torch.Tensor, labels: torch.Tensor) -> tuple[float, float, float]:
    """mAP, R@1 and R-precision, query by query."""
    aps, hits, precisions = [], [], []
    for query in range(len(labels)):
        others = [row for row in range(len(labels)) if row != query]
        others.sort(key=lambda row: -float(embeddings[query] @ embeddings[row]))
        right = [bool(labels[row] == labels[query]) for row in others]
        ranks = [rank for rank, good in enumerate(right, 1) if good]
        aps.append(sum(n / rank for n, rank in enumerate(ranks, 1)) / len(ranks))
        hits.append(right[0])
        precisions.append(sum(right[: len(ranks)]) / len(ranks))
    count = len(labels)
    return sum(aps) / count, sum(hits) / count, sum(precisions) / count


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_are_those_of_brute_force(seed):
    labels = torch.arange(18) % 4
    embeddings = vectors(18, seed)
    found = evaluated(embeddings, labels, [])
    numbers = found["map"], found["hit"], found["r_precision"]
    assert numbers == pytest.approx(brute_force(embeddings, labels), abs=1e-6)
    assert found["found"] == []


def test_results_are_in_order_and_no_query_finds_itself():
    embeddings, rows = vectors(30), [7, 0, 29]
    before = embeddings.clone()
    found = evaluated(embeddings, torch.arange(30) // 3, rows)["found"]
    assert [len(own) for own in found] == [FIRST] * 3
    for row, own in zip(rows, found, strict=True):
        assert row not in own
        near = [float(embeddings[row] @ embeddings[other]) for other in own]
        assert near == sorted(near, reverse=True)
        rest = set(range(30)) - {row, *own}
        assert min(near) >= max(float(embeddings[row] @ embeddings[other]) for other in rest)
    assert torch.equal(embeddings, before)


def test_a_query_that_is_far_from_all_others_does_not_find_itself_either():
    embeddings = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [-0.8, 0.6], [-0.6, 0.8]])
    found = evaluated(embeddings, torch.tensor([0, 0, 1, 1]), [0])["found"]
    assert found == [[3, 2, 1]]


@pytest.mark.parametrize("seed", range(3))
def test_the_ranks_of_a_query_have_its_average_precision(seed):
    labels, embeddings = torch.arange(18) % 4, vectors(18, seed)
    rows = [0, 7, 17]
    whole = evaluate(embeddings, labels).average_precision
    for row, ranks in zip(rows, evaluated(embeddings, labels, rows)["ranks"], strict=True):
        assert len(ranks) == int((labels == labels[row]).sum()) - 1
        precision = [n / rank for n, rank in enumerate(ranks, 1)]
        assert sum(precision) / len(precision) == pytest.approx(whole[row], abs=1e-6)


def test_a_negative_that_ties_with_a_positive_is_before_it():
    scores = torch.tensor([0.9, 0.5, 0.5, 0.1])
    assert ranks_of(scores, torch.tensor([True, True, False, False])) == [1, 3]
    assert ranks_of(scores, torch.tensor([False, False, True, True])) == [3, 4]


def test_classes_apart_are_found_without_an_error():
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    found = evaluated(torch.eye(3)[labels], labels, [0])
    assert (found["map"], found["hit"], found["r_precision"]) == (1, 1, 1)
    assert set(found["precision"]) == {1.0}
    assert found["found"][0][0] == 1
    assert len(found["found"][0]) == 5  # all the others there are


def test_what_is_kept_is_plain_and_makes_the_cell_again():
    tiny = plan()
    bench = Scratch(tiny.problems[1], tiny)
    trial = Trial(METHODS[3], METHODS[3].tries[1], 0.03, 7)
    judgment = evaluated(vectors(8), torch.arange(8) // 2, [0, 5])
    kept = {"history": [[10, 0.3], [20, 0.6], [30, 0.5]], **judgment}
    found = cell_of(bench, trial, json.loads(json.dumps(kept)))
    assert found == Cell(
        problem="second",
        kind="from scratch",
        method="SupCon",
        seed=7,
        objective="sup_con(temperature=.2)",
        rate=0.03,
        validation=0.6,  # the best, not the last
        map=judgment["map"],
        hit=judgment["hit"],
        r_precision=judgment["r_precision"],
        precision=tuple(judgment["precision"]),
        history=((10, 0.3), (20, 0.6), (30, 0.5)),
        found=tuple(map(tuple, judgment["found"])),
        ranks=tuple(map(tuple, judgment["ranks"])),
    )
    assert found.bench == ("second", "from scratch")
    assert len({found, replace(found, seed=8)}) == 2  # nothing in it that cannot be hashed


def test_a_bench_is_a_data_set_and_a_setting():
    assert CELL.bench == ("letters", "pretrained")
    assert replace(CELL, kind="from scratch").bench != CELL.bench


def test_queries_may_be_none_and_classes_need_not_follow_each_other():
    labels = torch.tensor([9, 9, 2, 2, 2, 40])
    assert queries_of(labels, 0) == []
    rows = queries_of(labels, 3)
    assert sorted(int(labels[row]) for row in rows) == [2, 9, 40]


def test_fewer_queries_are_some_classes_of_more():
    labels = torch.arange(60) // 3
    few, many = ({int(labels[row]) for row in queries_of(labels, n)} for n in (4, 9))
    assert few < many
