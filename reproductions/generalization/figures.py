"""The figures: the gap against the size, and the bounds beside it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from matplotlib.axes import Axes

from rankwise.report import Figure
from rankwise.theory import Mean, mean_of
from reproductions.drawing import COLORS, canvas, logarithmic_x, plain, png
from reproductions.generalization.analysis import BOUNDS, QUANTITIES, Bounded, predicted
from reproductions.generalization.losses import METRICS
from reproductions.generalization.measure import Measured
from reproductions.generalization.plan import AXES, Axis
from reproductions.generalization.problems import Problem

TITLES = {"lists": "lists", "positives": "positives n⁺", "negatives": "negatives n⁻"}


def gaps(measured: Measured, problem: Problem) -> Figure:
    """The expected gap of every loss against the size, one column for each axis."""
    figure, axes = canvas(2, 3, width=11.0, height=3.3)
    families = [
        [loss for loss, metric in METRICS.items() if (metric == "pAp@k") == top]
        for top in (False, True)
    ]
    for row, losses in enumerate(families):
        for column, axis in enumerate(AXES):
            place = axes[row, column]
            first = []
            for color, loss in zip(COLORS, losses, strict=False):
                cells = measured.along(problem.name, axis, loss)
                means = [mean_of(QUANTITIES["expected gap"](cell)) for cell in cells]
                first.append(means[0].value)
                _line(place, [cell.size for cell in cells], means, color, loss)
            _guides(place, measured, problem, axis, median(first))
            place.set_yscale("log")
            logarithmic_x(place, measured.plan.sizes_of(axis))
            plain(place, title=f"by {axis}", x=TITLES[axis], y="expected gap")
        axes[row, 0].legend(fontsize=7.5, frameon=False)
    return Figure(
        png(figure),
        f"Expected gap of test and training risk on {problem.name} against the numbers of lists, "
        "of positives and of negatives, on logarithmic axes.",
        "Bars are 95 % intervals over the samples; a mean that is not positive is left out. "
        "Dashed: the slope of 1/N⁺ + 1/N⁻; dotted: of its square root.",
    )


def _guides(axes: Axes, measured: Measured, problem: Problem, axis: Axis, height: float) -> None:
    """Draw the predicted slopes from a height at the smallest size."""
    if height <= 0:
        return
    sizes = measured.plan.sizes_of(axis)
    rates = predicted(measured.plan, axis, problem.features)
    for slope, style in ((rates.fast, "--"), (rates.slow, ":")):
        end = height * (sizes[-1] / sizes[0]) ** slope
        axes.plot((sizes[0], sizes[-1]), (height, end), style, color="black", linewidth=0.9)


def bounds(measured: Measured, found: Sequence[Bounded]) -> Figure:
    """StableAP's gap and bounds by positives and negatives, and SOPRC's Theorem 1 by N⁺."""
    figure, axes = canvas(1, 3, width=11.0, height=3.6)
    for place, axis in zip(axes[0], AXES[1:], strict=False):
        rows = [each for each in found if each.axis == axis]
        sizes = [each.size for each in rows]
        _line(place, sizes, [each.gap for each in rows], COLORS[0], "StableAP, mean gap")
        place.plot(sizes, [r.lemma_9 for r in rows], ".-", color=COLORS[2], label="Lemma 9")
        chained = [r.theorem_3.total - r.theorem_3.empirical for r in rows]
        place.plot(sizes, chained, ".-", color=COLORS[3], label="Theorem 3, without R̂")
        place.axhline(BOUNDS.range, color="black", linewidth=0.9, linestyle="--")
        logarithmic_x(place, sizes)
        plain(place, title=f"StableAP by {axis}", x=TITLES[axis], y="gap, bound")
    place = axes[0, 2]
    for color, loss in zip(COLORS, ("SOPRC", "plain AP"), strict=False):
        twins = [each for each in measured.twins if each.loss == loss]
        sizes = [each.n_positives for each in twins]
        _line(place, sizes, [mean_of(each.centered) for each in twins], color, f"{loss}, gap")
        place.plot(sizes, [t.bound for t in twins], ".--", color=color, label=f"{loss}, bound")
    place.axhline(1.0, color="black", linewidth=0.9, linestyle="--")
    logarithmic_x(place, measured.plan.twin_sizes)
    plain(place, title="SOPRC's Theorem 1", x="positives in the data, N⁺", y="gap, bound")
    for place in axes[0]:
        place.set_yscale("log")
        place.legend(fontsize=7.5, frameon=False)
    return Figure(
        png(figure),
        "Measured gaps and the bounds of the papers on logarithmic axes, with the range of the "
        "loss as a dashed line.",
        "A bound above the dashed line, the range of the loss, is vacuous.",
    )


def _line(axes: Axes, x: Sequence[int], means: Sequence[Mean], color: str, label: str) -> None:
    drawn = [(size, m) for size, m in zip(x, means, strict=True) if m.value > 0]
    halves = [m.half_width() for _, m in drawn]
    axes.errorbar(
        [size for size, _ in drawn],
        [m.value for _, m in drawn],
        # A bar that reaches zero has no place on a logarithmic axis.
        [[min(h, 0.9 * m.value) for h, (_, m) in zip(halves, drawn, strict=True)], halves],
        fmt=".-",
        color=color,
        linewidth=1.1,
        capsize=2,
        label=label,
    )
