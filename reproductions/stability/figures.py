"""The figures: bounded differences against n, twin distances against N⁺ and steps."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from rankwise.report import Figure
from rankwise.theory import Mean
from reproductions.drawing import COLORS, canvas, logarithmic_x, plain, png
from reproductions.stability.measure import Measured


def bounded_differences(measured: Measured) -> Figure:
    """Left: the largest change found. Right: the mean change of random lists."""
    figure, axes = canvas(1, 2, width=10.0, height=3.8)
    sizes = measured.plan.sizes
    for color, (name, rows) in zip(COLORS, measured.differences.items(), strict=True):
        slopes = measured.slopes(name)
        axes[0, 0].plot(
            sizes,
            [row.worst for row in rows],
            ".-",
            color=color,
            label=f"{name} ({slopes.worst_at_end:+.2f} at the end)",
        )
        axes[0, 1].plot(
            sizes,
            [row.typical.value for row in rows],
            ".-",
            color=color,
            label=f"{name} ({slopes.typical:+.2f})",
        )
    for place, title in zip(axes[0], ("largest change found", "mean change, random"), strict=True):
        place.set_yscale("log")
        logarithmic_x(place, sizes)
        plain(place, title=title, x="examples in the list, n", y="change of the loss")
        place.legend(fontsize=7.5, frameon=False, loc="lower left")
    return Figure(
        png(figure),
        "Change of the loss when one example is replaced, against the length of the list, on "
        "logarithmic axes: the largest change found, and the mean change of random lists.",
        "In brackets the log–log slope: −1 is O(1/n), 0 is O(1).",
    )


def twin_distances(measured: Measured) -> Figure:
    """ε⁺ and ε⁻ relative to the way gone, against N⁺ (top) and against the steps (below)."""
    figure, axes = canvas(2, 2, width=10.0, height=3.4)
    last, most = max(measured.plan.steps), max(measured.plan.n_positives)
    for color, name in zip(COLORS, measured.stabilities, strict=True):
        by_count = measured.at(name, last)
        by_steps = [s for s in measured.stabilities[name] if s.n_positives == most]
        counts, steps = [s.n_positives for s in by_count], [s.steps for s in by_steps]
        _line(axes[0, 0], counts, [s.relative_positive for s in by_count], color, name)
        _line(axes[0, 1], counts, [s.relative_negative for s in by_count], color, name)
        _line(axes[1, 0], steps, [s.relative_positive for s in by_steps], color, name)
        _line(axes[1, 1], steps, [s.relative_negative for s in by_steps], color, name)
    for column, sign in enumerate("⁺⁻"):
        logarithmic_x(axes[0, column], measured.plan.n_positives)
        logarithmic_x(axes[1, column], measured.plan.steps)
        plain(axes[0, column], title=f"ε{sign} after {last} steps", x="positives in the data, N⁺")
        plain(axes[1, column], title=f"ε{sign}, N⁺ = {most}", x="steps")
    for place in axes.flat:
        place.set_yscale("log")
        place.set_ylabel("distance / way gone", fontsize=9)
    axes[0, 0].legend(fontsize=7.5, frameon=False)
    return Figure(
        png(figure),
        "Distance of twin models, relative to the way trained, against the number of positives "
        "and against the number of steps.",
        "Bars are one standard error over the data sets.",
    )


def _line(axes: Axes, x: Sequence[int], means: Sequence[Mean], color: str, label: str) -> None:
    axes.errorbar(
        x,
        [m.value for m in means],
        # A bar that reaches zero has no place on a logarithmic axis.
        [[min(m.standard_error, 0.9 * m.value) for m in means], [m.standard_error for m in means]],
        fmt=".-",
        color=color,
        linewidth=1.1,
        capsize=2,
        label=label,
    )
