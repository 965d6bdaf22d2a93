"""The figures: what a batch estimates by sampling rate and size, and the interpolation."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes

from rankwise.report import Figure
from rankwise.theory import SIMULATIONS, Bias, InterpolationError
from reproductions.drawing import COLORS, canvas, logarithmic_x, plain, png
from reproductions.estimator_bias.measure import PRIOR, RATES, Measured

_STYLE = {
    "batch AP": ("o", COLORS[0]),
    "prior only": ("s", COLORS[1]),
    "SOPRC": ("D", COLORS[2]),
}


def estimates(measured: Measured) -> Figure:
    """Rows: the laws. Columns: densities, estimates by sampling rate, bias by batch size."""
    largest = max(measured.plan.sizes)
    figure, axes = canvas(len(measured.biases), 3)
    for number, (name, rows) in enumerate(measured.biases.items()):
        _densities(axes[number, 0], name)
        _by_rate(axes[number, 1], [row for row in rows if row.size == largest], largest)
        _by_size(axes[number, 2], rows)
    axes[0, 1].legend(fontsize=7.5, frameon=False)
    return Figure(
        png(figure),
        "For binormal, bibeta and offset uniform scores: the densities of positives and negatives; "
        "the mean estimate of the risk by batch AP, by the prior only and by SOPRC against the "
        "sampling rate, with the true risk; the absolute bias against the batch size.",
        f"Middle: mean over {measured.plan.draws} draws, bars are one standard deviation of a draw "
        f"(as in the paper's Figures 1 and 4), batches of {largest}. Right: |bias| with its 95 % "
        "interval at the lowest rate (full lines) and the highest (dashed).",
    )


def _densities(axes: Axes, name: str) -> None:
    positives, negatives = SIMULATIONS[name]
    x = torch.linspace(-3.5, 4.5, 600) if name == "binormal" else torch.linspace(-0.1, 1.6, 600)
    for law, label, color in (
        (positives, "positives", COLORS[2]),
        (negatives, "negatives", COLORS[1]),
    ):
        axes.fill_between(x.numpy(), law.density(x).numpy(), alpha=0.35, color=color, label=label)
    plain(axes, title=name, x="score", y="density")
    axes.legend(fontsize=7.5, frameon=False)


def _by_rate(axes: Axes, rows: list[Bias], size: int) -> None:
    place = {rate: number for number, rate in enumerate(RATES)}
    for shift, (name, (marker, color)) in zip((-0.12, 0.0, 0.12), _STYLE.items(), strict=True):
        own = [row for row in rows if row.estimator == name]
        axes.errorbar(
            [place[row.rate] + shift for row in own],
            [row.estimate.value for row in own],
            [row.spread for row in own],
            fmt=marker,
            color=color,
            markersize=4.5,
            capsize=2.5,
            linewidth=1,
            label=name,
        )
    axes.axhline(rows[0].truth, color="black", linewidth=0.9, linestyle=":", label="true risk")
    axes.set_xticks(list(place.values()), [f"{rate:g}" for rate in place])
    plain(axes, title=f"estimate, n = {size}", x=f"sampling rate π₀ (π = {PRIOR})", y="risk")


def _by_size(axes: Axes, rows: list[Bias]) -> None:
    for rate, line in ((min(RATES), "-"), (max(RATES), "--")):
        for name, (marker, color) in _STYLE.items():
            own = [row for row in rows if row.estimator == name and row.rate == rate]
            axes.errorbar(
                [row.size for row in own],
                [abs(row.bias) for row in own],
                [row.estimate.half_width() for row in own],
                fmt=marker + line,
                color=color,
                markersize=4,
                capsize=2.5,
                linewidth=1,
            )
    sizes = sorted({row.size for row in rows})
    logarithmic_x(axes, sizes)
    axes.set_ylim(bottom=0)
    plain(axes, title=f"|bias|, π₀ = {min(RATES):g} (–), {max(RATES):g} (--)", x="batch size")


def interpolation(measured: Measured) -> Figure:
    """Rows: the laws. Columns: errors against n⁺, errors against M."""
    figure, axes = canvas(len(measured.by_count), 2, width=9.5)
    for number, name in enumerate(measured.by_count):
        left, right = axes[number]
        _errors(left, measured.by_count[name], "n", bounded=True)
        plain(left, title=f"{name}, M = {max(measured.plan.points)}", x="positives in a batch n⁺")
        _errors(right, measured.by_points[name], "points", bounded=False)
        plain(right, title=f"{name}, n⁺ = 100", x="entries of v, M")
        left.legend(fontsize=7, frameon=False, loc="lower left")
        right.legend(fontsize=7, frameon=False, loc="lower left")
    return Figure(
        png(figure),
        "Interpolation errors against the number of positives and the number of entries of v, on "
        "logarithmic axes, with the bound of Proposition 3.",
        "Bound, chords and φ: largest error between the quantiles .1 and .9 from exact quantiles "
        "(zero for the uniform law, whose p'' is 0). E[φ] and one batch: mean error over all "
        "quantiles.",
    )


def _errors(axes: Axes, rows: list[InterpolationError], over: str, *, bounded: bool) -> None:
    lines = {
        "one batch": ("single", ":", COLORS[1]),
        "E[φ], what v gathers around": ("expected", "-", COLORS[2]),
    }
    if bounded:
        lines |= {
            "φ of exact quantiles": ("phi", "-", COLORS[3]),
            "chords of exact quantiles": ("chords", "-", COLORS[4]),
            "Proposition 3's bound": ("bound", "--", "black"),
        }
    for label, (field, line, color) in lines.items():
        values = [getattr(row, field) for row in rows]
        if min(values) > 1e-12:  # a logarithmic axis has no zero
            x = [getattr(row, over) for row in rows]
            axes.plot(x, values, line, color=color, marker=".", linewidth=1.2, label=label)
    logarithmic_x(axes, [getattr(row, over) for row in rows])
    axes.set_yscale("log")
