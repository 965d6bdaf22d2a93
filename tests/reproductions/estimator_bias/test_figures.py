"""What is drawn, of values that are made up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reproductions.estimator_bias.made_up import PLAN, TRUTH, bias, biases, measured, usual

from rankwise.theory import ESTIMATORS, SIMULATIONS, Mean
from reproductions.estimator_bias import figures
from reproductions.estimator_bias.measure import PRIOR, RATES


@pytest.fixture
def drawn(monkeypatch):
    """The axes that a function draws, (laws, columns)."""
    kept = []
    monkeypatch.setattr(figures, "png", lambda figure: kept.append(figure) or b"")

    def draw(function, values):
        found = function(values)
        return np.array(kept[-1].axes).reshape(len(SIMULATIONS), -1), found

    return draw


def curve(container):
    """The points of a line with bars, and where the bars end."""
    line, _, (segments,) = container.lines
    points = [float(y) for y in line.get_ydata()]
    return list(line.get_xdata()), points, [s[:, 1] for s in segments.get_segments()]


def test_every_law_has_its_densities_with_as_much_area_as_seen(drawn):
    axes, _ = drawn(figures.estimates, measured())
    for place, name in zip(axes[:, 0], SIMULATIONS, strict=True):
        assert place.get_title("left") == name
        for shape, law in zip(place.collections, SIMULATIONS[name], strict=True):
            outline = shape.get_paths()[0].vertices
            x, y = outline[:, 0], outline[:, 1]
            area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
            assert area == pytest.approx(1, abs=0.01), law  # all of it is in the picture


def test_estimates_are_of_the_largest_batches_by_rate(drawn):
    smaller = [bias(b.estimator, b.rate, 500, 3 * b.bias) for b in biases(sizes=(500,))]
    rows = {name: smaller + biases(sizes=(1000,)) for name in SIMULATIONS}
    axes, found = drawn(figures.estimates, measured(rows))
    place = axes[1, 1]
    assert place.get_title("left") == "estimate, n = 1000"
    assert [c.get_label() for c in place.containers] == list(ESTIMATORS)
    for name, container in zip(ESTIMATORS, place.containers, strict=True):
        x, y, bars = curve(container)
        assert [round(float(at)) for at in x] == list(range(len(RATES)))
        assert y == pytest.approx([TRUTH + usual(name, rate) for rate in RATES])
        np.testing.assert_allclose([high - low for low, high in bars], 2 * 0.05)  # the spread
    assert [tick.get_text() for tick in place.get_xticklabels()] == [f"{r:g}" for r in RATES]
    level = next(line for line in place.lines if line.get_label() == "true risk")
    assert set(level.get_ydata()) == {TRUTH}
    assert "mean over 6 draws" in found.caption
    assert "batches of 1000" in found.caption


def test_absolute_bias_by_size_at_the_lowest_and_the_highest_rate(drawn):
    axes, _ = drawn(figures.estimates, measured())
    place = axes[2, 2]
    half = Mean(0.0, 0.001, 3).half_width()
    rates = [rate for rate in (min(RATES), max(RATES)) for _ in ESTIMATORS]
    names = list(ESTIMATORS) * 2
    for rate, name, container in zip(rates, names, place.containers, strict=True):
        x, y, bars = curve(container)
        assert x == list(PLAN.sizes)
        assert y == pytest.approx([abs(usual(name, rate))] * 2)
        np.testing.assert_allclose([high - low for low, high in bars], 2 * half)
        assert container.lines[0].get_linestyle() == ("-" if rate < PRIOR else "--")
    assert place.get_ylim()[0] == 0


def test_interpolation_leaves_out_what_is_zero_on_a_logarithmic_axis(drawn):
    axes, _ = drawn(figures.interpolation, measured())
    for name, (left, right) in zip(SIMULATIONS, axes, strict=True):
        labels = [line.get_label() for line in left.lines]
        flat = "uniform" in name  # no curvature: bound, chords and φ are exact
        assert ("Proposition 3's bound" in labels) == (not flat)
        assert len(labels) == (2 if flat else 5)
        assert [line.get_label() for line in right.lines] == labels[:2]
        assert left.get_yscale() == right.get_yscale() == "log"
        assert left.get_title("left") == f"{name}, M = 100"


def test_interpolation_is_by_positives_left_and_by_entries_right(drawn):
    axes, _ = drawn(figures.interpolation, measured())
    left, right = axes[0]
    single = {line.get_label(): line for line in left.lines}["one batch"]
    assert list(single.get_xdata()) == [20, 50]
    assert list(single.get_ydata()) == pytest.approx([20**-0.5, 50**-0.5])
    expected = right.lines[1]
    assert list(expected.get_xdata()) == [10, 100]
    assert list(expected.get_ydata()) == pytest.approx([0.01, 0.01])  # of 100 positives
