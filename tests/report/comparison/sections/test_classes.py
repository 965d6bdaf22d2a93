"""The sections of several classes: their table, their curves, and the sentence about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.comparison.sections.small import candidate, rows_of, text_of, tree_of

from rankwise.report.comparison.run import Estimate, Predictions, Run
from rankwise.report.comparison.sections import classes as sections
from rankwise.report.comparison.sections.headline import headline, sentence, title_of


def line(label: str, rows: int, gain: float, p: float) -> Any:
    """One class as results.json has it."""
    return {
        "class": label,
        "rows": rows,
        "ap": {"value": 0.8, "low": 0.7, "high": 0.9},
        "ap of the baseline": {"value": 0.8 - gain, "low": 0.6, "high": 0.8},
        "ap difference": {"value": gain, "low": -0.1, "high": 0.2, "p": p, "p_holm": p},
        "auc": {"value": 0.95, "low": 0.9, "high": 1.0},
        "auc difference": {"value": 0.0, "low": -0.1, "high": 0.1, "p": 1, "p_holm": 1},
    }


def run_of(count: int, rows: int = 60, lines: Any = None) -> Run:
    """Two candidates: the first ranks every class right, the baseline by chance."""
    target = np.arange(rows) % count
    rng = np.random.default_rng(0)
    right, chance = np.eye(count)[target] + 0.1, rng.random((rows, count))
    both = (
        candidate(0, "linear, ap", test=Estimate(1.0, 0.9, 1.0), difference=Estimate(0.5)),
        candidate(1, "linear, log-loss", baseline=True, test=Estimate(0.5, 0.4, 0.6)),
    )
    labels = tuple(f"kind {c}" for c in range(count))
    made = lines or [line(label, int((target == c).sum()), 0.1, 0.2) for c, label in
                     enumerate(labels)]  # fmt: skip
    given = Predictions(target.astype(float), np.ones(rows), None, {0: right, 1: chance}, {})
    return Run(
        folder=Path("runs/kinds"),
        candidates=both,
        recommended=both[0],
        config={},
        predictions=given,
        metric="ap",
        data={"path": "kinds.csv"},
        classes=labels,
        by_class=made,
    )


def test_the_table_has_every_class_with_its_adjusted_gain() -> None:
    lines = [line("a", 10, 0.1, 0.01), line("b", 30, -0.1, 0.02), line("c", 20, 0.05, 0.5)]
    section = sections.classes(run_of(3, lines=lines))
    assert section is not None
    tree = tree_of(section.body)
    rows = rows_of(tree.find(".//table"))
    assert [row[0] for row in rows] == ["b", "c", "a"]
    assert [row[1] for row in rows] == ["30", "20", "10"]
    assert "worse" in rows[0][4]
    assert "better" in rows[2][4]
    assert "better" not in rows[1][4]
    assert rows[1][5] == "0.500"
    assert "higher for 2 of 3 classes and lower for 1" in text_of(tree)
    assert "1 are significantly better and 1 worse" in text_of(tree)


def test_a_run_without_classes_has_no_table() -> None:
    assert sections.classes(run_of(3, lines=[line("a", 1, 0, 1)])) is not None
    empty = run_of(3)
    object.__setattr__(empty, "by_class", ())
    assert sections.classes(empty) is None


@pytest.mark.parametrize(("count", "drawn"), [(3, 3), (12, 12), (20, 12)])
def test_at_most_twelve_classes_are_drawn(count: int, drawn: int) -> None:
    run = run_of(count)
    section = sections.class_curves(run)
    tree = tree_of(section.body)
    keys = [each.get("data-toggle") for each in tree.iter("button") if each.get("data-toggle")]
    assert len(keys) == drawn
    series = {each.get("data-series") for each in tree.iter("g") if each.get("data-series")}
    assert series == set(keys)
    names, colors = sections.chart_names(run)
    assert set(names) == set(colors) == set(keys)
    assert len(set(colors.values())) == drawn
    assert ("with the lowest AP" in text_of(tree)) == (count > 12)
    for chart in section.charts.values():
        assert len(chart["series"]) == drawn
        assert all(max(each["y"]) == 1 for each in chart["series"])


def test_the_headline_counts_rows_among_the_first_of_their_class() -> None:
    run = run_of(3)
    assert sections.among_first(run, 0).tolist() == [1.0] * 60
    assert 10 < sections.among_first(run, 1).sum() < 30
    assert "ranks 60 of the 60 test rows among the first of their own class" in sentence(run)
    assert title_of(run) == "Average precision on 3 classes of kinds.csv"
    text = text_of(tree_of(headline(run).render()))
    assert "mean over 3 classes" in text
    assert "20 of the rarest, kind 0" in text


def test_tied_rows_share_the_places_that_are_left() -> None:
    found = sections.in_top(np.array([3.0, 1.0, 1.0, 1.0, 0.0]), 2)
    np.testing.assert_allclose(found, [1, 1 / 3, 1 / 3, 1 / 3, 0])
