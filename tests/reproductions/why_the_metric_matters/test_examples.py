"""The printed numbers and orders of the documents against exact ones, worked out by counting."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from reproductions.frame import Setting
from reproductions.why_the_metric_matters.compare import holds
from reproductions.why_the_metric_matters.examples import (
    EXAMPLES,
    FIGURE_1,
    PAPK_TOP_2,
    PAPK_TOP_6,
    TABLE_2_2,
    TWO_OF_102,
)
from reproductions.why_the_metric_matters.measure import Plan, measure
from reproductions.why_the_metric_matters.numbers import checks

# What the documents print, once more and by hand: (example, ranking, metric) -> number.
COUNTED = {
    (TABLE_2_2, "E1", "AUROC"): Fraction(66, 66),
    (TABLE_2_2, "E2", "AUROC"): Fraction(66 - 7, 66),
    (TABLE_2_2, "E3", "AUROC"): Fraction(66 - 14, 66),
    (TABLE_2_2, "E1", "accuracy (score > 0.5)"): Fraction(25 - 2, 25),
    (TABLE_2_2, "E2", "accuracy (score > 0.5)"): Fraction(25 - 2, 25),
    (TABLE_2_2, "E3", "accuracy (score > 0.5)"): Fraction(25 - 2, 25),
    (TWO_OF_102, "A", "accuracy (score > 0)"): Fraction(101, 102),
    (TWO_OF_102, "A", "AUROC"): Fraction(100, 200),
    (TWO_OF_102, "B", "AUROC"): Fraction(196, 200),
    (TWO_OF_102, "C", "AUROC"): Fraction(196, 200),
    (TWO_OF_102, "B", "AP"): (Fraction(1, 3) + Fraction(2, 4)) / 2,
    (TWO_OF_102, "D", "AP"): Fraction(1),
    (TWO_OF_102, "B", "pAUC (FPR ≤ 1/50)"): Fraction(0, 4),
    (TWO_OF_102, "C", "pAUC (FPR ≤ 1/50)"): Fraction(2, 4),
    (PAPK_TOP_2, "f₁", "AUROC"): Fraction(22, 30),
    (PAPK_TOP_2, "f₂", "AUROC"): Fraction(21, 30),
    (PAPK_TOP_2, "f₃", "AUROC"): Fraction(12, 30),
    (PAPK_TOP_2, "f₁", "pAUC (FPR ≤ 1/3)"): Fraction(2, 10),
    (PAPK_TOP_2, "f₂", "pAUC (FPR ≤ 1/3)"): Fraction(5, 10),
    (PAPK_TOP_2, "f₃", "pAUC (FPR ≤ 1/3)"): Fraction(4, 10),
    (PAPK_TOP_2, "f₁", "pAp@2"): Fraction(2, 4),
    (PAPK_TOP_2, "f₂", "pAp@2"): Fraction(3, 4),
    (PAPK_TOP_2, "f₃", "pAp@2"): Fraction(1),
    (PAPK_TOP_6, "f₄", "precision@6"): Fraction(5, 6),
    (PAPK_TOP_6, "f₅", "precision@6"): Fraction(5, 6),
    (PAPK_TOP_6, "f₄", "pAp@6"): Fraction(27, 30),
    (PAPK_TOP_6, "f₅", "pAp@6"): Fraction(28, 30),
    (FIGURE_1, "f₁", "AP"): (1 + 1 + Fraction(3, 8) + Fraction(4, 11)) / 4,
    (FIGURE_1, "f₂", "AP"): (1 + Fraction(2, 3) + Fraction(3, 8) + Fraction(4, 9)) / 4,
    (FIGURE_1, "f₃", "AP"): (1 + Fraction(2, 4) + Fraction(3, 7) + Fraction(4, 8)) / 4,
    (FIGURE_1, "f₁", "AUROC"): Fraction(7 + 7 + 2 + 0, 28),
    (FIGURE_1, "f₂", "AUROC"): Fraction(7 + 6 + 2 + 2, 28),
    (FIGURE_1, "f₃", "AUROC"): Fraction(7 + 5 + 3 + 3, 28),
    **{(FIGURE_1, f, "precision@1"): Fraction(1) for f in ("f₁", "f₂", "f₃")},
    **{(FIGURE_1, f, "precision@5"): Fraction(2, 5) for f in ("f₁", "f₂", "f₃")},
    (FIGURE_1, "f₁", "precision@10"): Fraction(3, 10),
    (FIGURE_1, "f₂", "precision@10"): Fraction(4, 10),
    (FIGURE_1, "f₃", "precision@10"): Fraction(4, 10),
}


@pytest.fixture(scope="module")
def found():
    return measure(Plan(), Setting())


def test_every_printed_number_is_counted_and_computed(found):
    printed = {(e, p.ranking, p.metric) for e in EXAMPLES for p in e.printed}
    assert printed == set(COUNTED)
    for (example, ranking, metric), number in COUNTED.items():
        assert found.of(example)[metric][ranking] == pytest.approx(float(number), abs=1e-14)


def test_all_printed_numbers_but_one_are_exact_or_rounded(found):
    every = [check for example in EXAMPLES for check in checks(example, found.of(example))]
    assert len(every) == 47
    (wrong,) = [check for check in every if not check.right]
    assert (wrong.example, wrong.printed.ranking, wrong.printed.text) == (TABLE_2_2, "E3", "0.78")
    assert wrong.verdict == "cut off; rounded it is 0.79"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.source)
def test_every_stated_order_holds_and_its_reverse_does_not(found, example):
    values = found.of(example)
    for claim in example.claims:
        assert holds(claim.order, values[claim.metric])
        turned = " > ".join(claim.order.split(" > ")[::-1])
        assert (turned == claim.order) or not holds(turned, values[claim.metric])


def test_rankings_of_an_example_have_the_same_classes():
    sizes = {
        example.source: {(r.target.count(1), r.target.count(0)) for r in example.rankings}
        for example in EXAMPLES
    }
    assert list(sizes.values()) == [{(3, 22)}, {(2, 100)}, {(4, 7)}, {(5, 6)}, {(5, 6)}]


def test_table_2_2_is_the_printed_one():
    printed = ((0.9, 0.8, 0.7, 0.6, 0.6), (0.9, 0.41, 0.7, 0.6, 0.49), (0.9, 0.41, 0.4, 0.49, 0.48))
    for ranking, first in zip(TABLE_2_2.rankings, printed, strict=True):
        assert ranking.scores[:10] == (*first, 0.47, 0.47, 0.45, 0.43, 0.42)
        assert ranking.scores[-1] == 0.1
        assert all(0.1 < score < 0.4 for score in ranking.scores[10:-1])


def test_the_scores_that_table_2_2_leaves_out_change_nothing(found):
    moved = replace(
        TABLE_2_2,
        rankings=tuple(
            replace(r, scores=(*r.scores[:10], *(0.2 + 0.001 * i for i in range(14)), 0.1))
            for r in TABLE_2_2.rankings
        ),
    )
    assert measure(Plan((moved,), largest=10), Setting()).of(moved) == found.of(TABLE_2_2)


def test_ranking_a_is_the_described_one():
    scores = TWO_OF_102.rankings[0].scores
    assert scores[:2] == (0.5, -0.2)
    assert all(-0.2 < score < 0 for score in scores[2:])
    assert TWO_OF_102.rankings[1].labels[:5] == [0, 0, 1, 1, 0]
    assert TWO_OF_102.rankings[2].labels[:7] == [1, 0, 0, 0, 0, 1, 0]


def test_figure_1_has_one_solution(found):
    drawn = {r.name: [(11, _ranks(r.labels))] for r in FIGURE_1.rankings}
    assert found.solutions == drawn
    assert drawn["f₂"] == [(11, (1, 3, 8, 9))]


def _ranks(labels):
    return tuple(rank for rank, label in enumerate(labels, start=1) if label)
