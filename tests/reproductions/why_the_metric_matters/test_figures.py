from __future__ import annotations

import pytest

from reproductions.frame import Setting
from reproductions.why_the_metric_matters import figures
from reproductions.why_the_metric_matters.examples import (
    EXAMPLES,
    FIGURE_1,
    PAPK_TOP_2,
    TABLE_2_2,
    TWO_OF_102,
)
from reproductions.why_the_metric_matters.measure import Plan, measure


@pytest.fixture
def drawn(monkeypatch):
    kept = []
    monkeypatch.setattr(figures, "png", lambda figure: kept.append(figure) or b"")
    return kept


def test_columns_are_every_rank_or_a_run_without_positives():
    for example in EXAMPLES:
        places = figures.columns(example)
        assert [rank for run in places for rank in run] == list(
            range(1, len(example.rankings[0].target) + 1)
        )
        for run in places:
            if len(run) > 1:
                assert not any(r.labels[rank - 1] for r in example.rankings for rank in run)
    assert [run for run in figures.columns(TWO_OF_102) if len(run) > 1] == [tuple(range(8, 101))]
    assert all(len(run) == 1 for run in figures.columns(FIGURE_1))


def test_positives_are_filled_at_their_ranks_and_cuts_are_drawn(drawn):
    shown = figures.draw_lists(PAPK_TOP_2)
    (place,) = drawn[0].axes
    dots = [line for line in place.lines if line.get_marker() == "o"]
    filled = {
        (int(line.get_xdata()[0]), int(-line.get_ydata()[0]))
        for line in dots
        if line.get_color() != "white"
    }
    expected = {
        (rank, row)
        for row, ranking in enumerate(PAPK_TOP_2.rankings)
        for rank, label in enumerate(ranking.labels, start=1)
        if label
    }
    assert filled == expected
    assert len(dots) == 3 * 11
    assert [line.get_xdata()[0] for line in place.lines if line.get_linestyle() == "--"] == [2.5]
    assert "f₁: positives at ranks 2, 3, 5, 6, 7 of 11" in shown.description
    assert "⋯" not in shown.caption
    assert "threshold" not in shown.caption


def test_the_threshold_stands_after_the_scores_above_it(drawn):
    shown = figures.draw_lists(TABLE_2_2)
    (place,) = drawn[0].axes
    bars = [line.get_xdata()[0] for line in place.lines if line.get_linewidth() == 2.5]
    assert bars == [5.5, 3.5, 1.5]
    assert "threshold 0.5" in shown.caption
    assert "⋯" in shown.caption


def test_what_a_metric_prefers_is_filled(drawn):
    values = measure(Plan((TWO_OF_102,), largest=10), Setting()).of(TWO_OF_102)
    picked = {name: values[name] for name in ("AUROC", "AP", "accuracy (score > 0)")}
    shown = figures.draw_choices(TWO_OF_102, picked)
    (place,) = drawn[0].axes
    boxes = [each.get_paths()[0].get_extents() for each in place.collections]
    # B and C are level in AUROC; C is first in AP; accuracy has A alone; D is never chosen.
    assert [(round((box.x0 + box.x1) / 2), round(-(box.y0 + box.y1) / 2)) for box in boxes] == [
        (1, 0),
        (2, 0),
        (2, 1),
    ]
    assert "D is the perfect ranking, not compared" in shown.caption


def test_contradictions_are_written_in_their_cells(drawn):
    counts = {("p", "q"): 2, ("p", "r"): 0, ("q", "r"): 1}
    shown = figures.draw_contradictions(counts, 3)
    (place,) = drawn[0].axes
    cells = {
        (text.get_position()[0], -text.get_position()[1]): text.get_text() for text in place.texts
    }
    assert cells == {(0, 1): "2", (0, 2): "·", (1, 2): "1"}
    assert shown.description == "p and q: 2; q and r: 1."
    assert "of 3" in shown.caption
