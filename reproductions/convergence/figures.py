"""The figures: rates on logarithmic axes, the memories, and momentum over s."""

from __future__ import annotations

from itertools import cycle

from matplotlib.axes import Axes

from rankwise.report import Figure
from rankwise.theory import Mean
from reproductions.convergence.estimates import BIAS_LAW, ERROR_LAW, LAWS
from reproductions.convergence.fits import (
    BIASED,
    UNPREDICTED,
    estimate_exponent,
    means,
    points,
    select,
    variants,
)
from reproductions.convergence.plan import Measured
from reproductions.convergence.problem import LOSSES
from reproductions.drawing import COLORS, canvas, logarithmic_x, plain, png

_CAPTION = "Bars are 95 % intervals over the data sets. Dashes have the predicted exponent."


def rates(measured: Measured) -> Figure:
    """‖∇‖² of StableAP, ‖∇‖² and excess risk of SOPRC, against T."""
    figure, axes = canvas(1, 3, width=12.0, height=3.8)
    parts = (
        ("T", "gradient", "StableAP: mean ‖∇e‖² over T steps", -0.5),
        ("T, SOPRC", "gradient", "SOPRC: ‖∇F‖² after T steps", -1.0),
        ("T, SOPRC", "excess", "SOPRC: excess risk after T steps", -1.0),
    )
    for panel, (experiment, field, title, power) in zip(axes[0], parts, strict=True):
        _lines(panel, measured, experiment, field, power)
        plain(panel, title=title, x="T")
        logarithmic_x(panel, measured.plan.horizons)
        panel.legend(fontsize=7, frameon=False)
    return Figure(
        png(figure),
        "Squared gradient norm and excess risk against the number of steps on logarithmic axes.",
        _CAPTION + " A mean that is not positive has no place on the axis.",
    )


def sweeps(measured: Measured) -> Figure:
    """The same against batch size, λ and β, and the memories."""
    figure, axes = canvas(2, 3, width=12.0, height=3.4)
    parts = (
        ("n⁺", "gradient", "StableAP: mean ‖∇e‖²", None),
        ("λ", "gradient", "StableAP: mean ‖∇e‖²", None),
        ("β", "gradient", "StableAP: mean ‖∇e‖²", None),
        ("n⁺, SOPRC", "excess", "SOPRC: excess risk", 1.0),
        ("λ", "memory", "StableAP: mean (μ̂ − μ⁺)²", None),
        ("β of v, SOPRC", "memory", "SOPRC: squared error of v", None),
    )
    for panel, (experiment, field, title, power) in zip(axes.flat, parts, strict=True):
        _lines(panel, measured, experiment, field, power, linear=experiment == "β")
        plain(panel, title=title, x=experiment.partition(",")[0])
        if experiment != "β":
            logarithmic_x(panel, sorted({r.x for r in measured.rows if r.experiment == experiment}))
        panel.legend(fontsize=7, frameon=False)
    return Figure(
        png(figure),
        "Squared gradient norm, excess risk and errors of the memories against batch size, λ and "
        "β.",
        _CAPTION,
    )


def fixed(measured: Measured) -> Figure:
    """Averages and estimates of a fixed model."""
    figure, axes = canvas(1, 3, width=12.0, height=3.6)
    power = estimate_exponent(measured.plan)
    groups = (
        ("variance of the average/variance of a batch", "β/(2−β)", list(LAWS.values()), 1.0),
        ("SOPRC's estimate: errors", "n⁺", [ERROR_LAW, BIAS_LAW], power),
        ("squared bias of a batch's gradient", "n⁺", [f"{BIASED}, {n}" for n in LOSSES], None),
    )
    for panel, (title, x, claims, slope) in zip(axes[0], groups, strict=True):
        for color, claim in zip(COLORS, claims, strict=False):
            _line(panel, means(points(measured, claim)), color, claim, slope)
        panel.set_yscale("log", nonpositive="clip")
        plain(panel, title=title, x=x)
        panel.set_xscale("log")
        if x == "n⁺":
            logarithmic_x(panel, measured.plan.batches)
        panel.legend(fontsize=7, frameon=False)
    return Figure(
        png(figure),
        "Variances of the averages against their rate, and errors of estimate and gradient against "
        "the batch, on logarithmic axes.",
        _CAPTION,
    )


def momentum(measured: Measured) -> Figure:
    """Gradient norm and risk over s, by the rule of Lemma 14 and as printed."""
    figure, axes = canvas(1, 2, width=10.0, height=3.4)
    for panel, (field, title) in zip(
        axes[0], (("gradient", "mean ‖∇e‖²"), ("excess", "excess risk")), strict=True
    ):
        _lines(panel, measured, "s", field, None, linear=True)
        plain(panel, title=title, x="s: 0 heavy ball, 1 Nesterov")
    axes[0, 0].legend(fontsize=7, frameon=False)
    return Figure(
        png(figure), "Squared gradient norm and excess risk over s, for two rules.", _CAPTION
    )


def _lines(
    panel: Axes,
    measured: Measured,
    experiment: str,
    field: str,
    power: float | None,
    *,
    linear: bool = False,
) -> None:
    for color, variant in zip(cycle(COLORS), variants(measured, experiment), strict=False):
        rows = select(measured, experiment, variant)
        found = means([(r.x, r.repeat, getattr(r, field)) for r in rows])
        expected = None if variant in UNPREDICTED else power
        _line(panel, found, color, variant, expected, linear=linear)
    if not linear:
        panel.set_yscale("log", nonpositive="clip")


def _line(
    panel: Axes,
    found: dict[float, Mean],
    color: str,
    label: str,
    power: float | None,
    *,
    linear: bool = False,
) -> None:
    places, values = list(found), [mean.value for mean in found.values()]
    halves = [mean.half_width() for mean in found.values()]
    # A bar that reaches zero has no place on a logarithmic axis.
    short = [min(h, 0.9 * v) if v > 0 else h for h, v in zip(halves, values, strict=True)]
    down = halves if linear else short
    panel.errorbar(
        places, values, [down, halves], fmt=".-", color=color, linewidth=1.1, capsize=2, label=label
    )
    if power is not None and values[0] > 0:
        ruler = [values[0] * (x / places[0]) ** power for x in places]
        panel.plot(places, ruler, "--", color=color, linewidth=0.7)
