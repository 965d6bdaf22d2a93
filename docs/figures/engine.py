"""How a sum over all pairs becomes a sweep over sorted scores."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.figure import Figure

from docs.figures.frame import BLUE, INK, ORANGE, PURPLE, SHADES, TEAL, figure, label, panels
from rankwise.pairs import Sigmoid, SquaredHinge, ZeroOne, pair_sum


def _scores() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    positives = torch.randn(9, dtype=torch.double) + 0.8
    negatives = torch.randn(26, dtype=torch.double)
    return positives.sort().values, negatives.sort().values


@figure("pairs-matrix")
def pairs_matrix() -> Figure:
    positives, negatives = _scores()
    loss = SquaredHinge(1.0)
    pairs = loss.value(positives[:, None] - negatives)
    sums = pair_sum(loss, positives, negatives)
    torch.testing.assert_close(pairs.sum(1), sums)
    canvas, (left, right) = panels(2, height=2.7, width_ratios=(3, 1), sharey=True)
    left.imshow(pairs, cmap=SHADES, aspect="auto", origin="lower")
    label(left, "negatives, sorted by score", "positives, sorted", "ℓ of every pair", grid=False)
    right.barh(range(len(sums)), sums, color=TEAL)
    label(right, "sum of the row", title="what the loss needs", grid=False)
    return canvas


@figure("sorted-sweep")
def sorted_sweep() -> Figure:
    """Σ_j (c − (u − l_j))₊² at every u, from three running sums over the sorted negatives."""
    _, negatives = _scores()
    line = torch.linspace(-3.4, 3.4, 160, dtype=torch.double)
    inside = (negatives + 1.0) > line[:, None]
    moments = [torch.where(inside, negatives**power, 0.0).sum(1) for power in range(3)]
    from_moments = moments[2] + 2 * (1 - line) * moments[1] + (1 - line) ** 2 * moments[0]
    torch.testing.assert_close(from_moments, pair_sum(SquaredHinge(1.0), line, negatives))
    canvas, (top, bottom) = panels(rows=2, height=4.2, sharex=True, height_ratios=(3, 2))
    for values, color, name in zip(
        moments, (TEAL, ORANGE, PURPLE), ("count, Σ 1", "Σ l", "Σ l²"), strict=True
    ):
        top.step(line, values, where="mid", color=color, label=name)
    top.legend()
    label(top, y="running sum", title="three running sums over the negatives with l + 1 > u")
    bottom.plot(line, from_moments, color=BLUE)
    bottom.plot(negatives, np.zeros(len(negatives)), "|", color=INK, markersize=12)
    label(bottom, "score u", "Σ ℓ(u − l)", "the sum over all pairs, from the three of them")
    return canvas


@figure("knots-and-points")
def knots_and_points() -> Figure:
    positives, negatives = _scores()
    canvas, axes = panels(height=2.0)
    axes.vlines(positives, 0, 1, color=TEAL, label="knots: the smaller side, sorted")
    axes.plot(negatives, np.full(len(negatives), 0.5), "o", color=ORANGE, markersize=5)
    above = pair_sum(ZeroOne(), positives, negatives)
    for at, count in zip(positives[::2].tolist(), above[::2].tolist(), strict=True):
        axes.text(at, 1.06, f"{count:.0f}", ha="center", color=TEAL)
    axes.plot([], [], "o", color=ORANGE, label="points: the larger side, one search each")
    axes.set_ylim(0, 1.25)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    label(axes, "score", title="number of negatives at or above a positive", grid=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=2)
    return canvas


@figure("sum-of-exponentials")
def sum_of_exponentials() -> Figure:
    loss = Sigmoid(1.0)
    lower = torch.zeros(1, dtype=torch.double)
    x = torch.linspace(-12, 12, 161, dtype=torch.double)
    engine = pair_sum(loss, x, lower, method="exponential")
    exact = loss.value(x)
    error = ((engine - exact).abs() / exact).clamp_min(1e-12)
    canvas, (left, right) = panels(2, height=2.6)
    left.plot(x, exact, color=TEAL, label="sigmoid")
    left.plot(x[::8], engine[::8], "o", color=ORANGE, markersize=3.5, label="12 exponentials")
    left.legend()
    label(left, "x = u − l", "ℓ(x)", "a sigmoid is a sum of decaying exponentials")
    right.semilogy(x, error, color=PURPLE, linewidth=1.2)
    right.set_ylim(1e-12, 1e-5)
    label(right, "x = u − l", "relative error", "error of the sum")
    return canvas
