from __future__ import annotations

import pytest

from rankwise.theory import Mean
from reproductions.fidelity.measure import METRICS, OBJECTIVES, REFERENCE
from reproductions.fidelity.tables import (
    figure_of,
    in_thousandths,
    leaders,
    own_metric,
    table_of,
)

MEANS = {(REFERENCE, judge): Mean(0.5, 0.0, 3) for judge in METRICS}
GAINS = {
    (name, judge): Mean(0.1 + 0.2 * ((name, judge) == ("soap", "ap")), 0.0, 3)
    for name in OBJECTIVES
    for judge in METRICS
}
WORSE = {cell: Mean(-mean.value, 0.0, 3) for cell, mean in GAINS.items()}


def test_the_table_marks_the_own_family_and_the_best():
    table = table_of(MEANS, GAINS, "One list.")
    rows = {row[0]: dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}
    assert rows[REFERENCE]["ap"] == "0.500"
    assert rows["soap"]["ap"] == "▸★+0.300 ± 0.000"
    assert rows["ap"]["ap"] == "▸+0.100 ± 0.000"
    assert rows["auc"]["ap"] == "+0.100 ± 0.000"
    assert table.caption.startswith("One list. ")


def test_thousandths_have_the_own_metric_on_lists_last():
    table = in_thousandths(MEANS, GAINS, WORSE)
    rows = {row[0]: row for row in table.rows}
    assert rows["soap"][1 + list(METRICS).index("ap")] == "★+300±0"
    assert rows["soap"][-1] == "-300±0"
    assert rows["auc"][-1] == "-100±0"
    assert len(rows) == 1 + len(OBJECTIVES)


@pytest.mark.parametrize(("lists", "last"), [(GAINS, "yes"), (WORSE, "no")])
def test_whether_an_interval_is_above_0(lists, last):
    rows = {(row[0], row[1]): row for row in own_metric(GAINS, lists).rows}
    row = rows["soap", "ap"]
    assert (row[3], row[5]) == ("yes", last)
    assert ("soap", "auc") not in rows


def test_the_figure_is_a_png_that_is_described():
    figure = figure_of(GAINS)
    assert figure.png.startswith(b"\x89PNG")
    assert "objective" in figure.description


def test_leaders_say_whose_family_is_first():
    best = dict.fromkeys(METRICS, "soap")
    rows = {
        row[0]: row[1:]
        for row in leaders(best, dict.fromkeys(METRICS, ("ndcg", WORSE["auc", "auc"]))).rows
    }
    assert rows["ap"] == ["soap", "yes", "ndcg", "-0.1000 ± 0.0000"]
    assert rows["auc"][1] == "no"
