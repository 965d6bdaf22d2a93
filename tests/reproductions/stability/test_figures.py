"""What is drawn, of values that are made up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reproductions.stability.made_up import PLAN, POWERS, measured

from reproductions.stability import figures
from reproductions.stability.losses import LISTS


@pytest.fixture
def drawn(monkeypatch):
    """The figure that a function draws, before it is a picture."""
    kept = []
    monkeypatch.setattr(figures, "png", lambda figure: kept.append(figure) or b"")

    def draw(function, values):
        function(values)
        return np.array(kept[-1].axes)

    return draw


def bars(axes):
    """Lower and upper ends of the bars by label."""
    found = {}
    for container in axes.containers:
        (segments,) = container.lines[2]
        found[container.get_label()] = np.array([s[:, 1] for s in segments.get_segments()])
    return found


def test_worst_and_random_changes_are_drawn_with_their_slopes(drawn):
    left, right = drawn(figures.bounded_differences, measured())
    for number, name in enumerate(LISTS):
        worst, typical = left.lines[number], right.lines[number]
        assert list(worst.get_xdata()) == list(typical.get_xdata()) == list(PLAN.sizes)
        np.testing.assert_allclose(worst.get_ydata(), [2 * n ** POWERS[name] for n in PLAN.sizes])
        np.testing.assert_allclose(typical.get_ydata(), [3 / n for n in PLAN.sizes])
        assert worst.get_label() == f"{name} ({POWERS[name]:+.2f} at the end)"
        assert typical.get_label() == f"{name} (-1.00)"
        assert worst.get_color() == typical.get_color()
    for place in (left, right):
        assert (place.get_xscale(), place.get_yscale()) == ("log", "log")
        assert [tick.get_text() for tick in place.get_xticklabels()] == ["100", "400", "1600"]
    assert len({line.get_color() for line in left.lines}) == len(LISTS)


def test_twins_are_drawn_by_positives_above_and_by_steps_below(drawn):
    top, negative, below, last = drawn(figures.twin_distances, measured())
    named = {c.get_label(): c.lines[0] for c in top.containers}
    assert list(named) == list(LISTS)
    for axes, x, part, values in (
        (top, (10, 40), 0.1, (20 / 10, 20 / 40)),  # after the last step
        (negative, (10, 40), 0.05, (20 / 10, 20 / 40)),
        (below, (5, 20), 0.1, (5 / 40, 20 / 40)),  # with the most positives
        (last, (5, 20), 0.05, (5 / 40, 20 / 40)),
    ):
        for container in axes.containers:
            line = container.lines[0]
            assert tuple(line.get_xdata()) == x
            heights = [float(height) for height in line.get_ydata()]
            assert heights == pytest.approx([part * value for value in values])
    assert top.get_title("left") == "ε⁺ after 20 steps"
    assert last.get_title("left") == "ε⁻, N⁺ = 40"


def test_a_bar_is_one_standard_error_and_never_reaches_zero(drawn):
    top = drawn(figures.twin_distances, measured(error=0.01))[0]
    np.testing.assert_allclose(bars(top)["SOPRC"], [[0.19, 0.21], [0.04, 0.06]])
    wide = drawn(figures.twin_distances, measured(error=0.1))[0]
    np.testing.assert_allclose(bars(wide)["SOPRC"], [[0.1, 0.3], [0.005, 0.15]])
