"""The figures: distances of twins along T, n and N, and beside the bound of Lemma 1."""

from __future__ import annotations

from rankwise.report import Figure
from reproductions.drawing import COLORS, canvas, logarithmic_x, plain, png
from reproductions.list_stability.fits import AXES, SIDES, along, exponent, means, place
from reproductions.list_stability.lemma import limits
from reproductions.list_stability.measure import Measured


def exponents(measured: Measured) -> Figure:
    """Each row a class, each column an axis; dashes have the exponent of the theorem."""
    figure, axes = canvas(2, 3, width=11.0, height=3.2)
    lines = list(dict.fromkeys((t.loss, t.scale) for t in measured.twins))
    far = measured.constants.measured.smoothness_far
    for row, (side, sign) in enumerate(SIDES.items()):
        for column, axis in enumerate(AXES):
            panel = axes[row, column]
            field = place(side, axis)
            for color, (loss, scale) in zip(COLORS, lines, strict=False):
                rows = along(measured, loss, scale, side, axis)
                found = means(rows, field, side)
                if len(found) < 2:
                    continue
                places, values = list(found), [mean.value for mean in found.values()]
                errors = [mean.standard_error for mean in found.values()]
                # A bar that reaches zero has no place on a logarithmic axis.
                down = [min(e, 0.9 * v) for e, v in zip(errors, values, strict=True)]
                label = f"{loss}, C = {scale:g}"
                style = {"color": color, "linewidth": 1.1, "capsize": 2, "label": label}
                panel.errorbar(places, values, [down, errors], fmt=".-", **style)
                if loss == "SOPRC":
                    power = -1.0 if axis == "N" else exponent(measured, scale, far)
                    ruler = [values[0] * (x / places[0]) ** power for x in places]
                    panel.plot(places, ruler, "--", color=color, linewidth=0.8)
            panel.set_yscale("log", nonpositive="clip")
            logarithmic_x(panel, _marks(measured, field))
            name = {"T": "steps T", "n": f"n{sign} in a batch", "N": "N⁺ in the data"}[axis]
            plain(panel, title=f"ε{sign}", x=name, y="distance" if column == 0 else "")
    axes[0, 2].legend(fontsize=7, frameon=False, loc="upper right")
    return Figure(
        png(figure),
        "Distance of twin models against the number of steps, the size of the batch and the size "
        "of the data, on logarithmic axes, with the exponents of Theorem 2 as dashes.",
        "Bars are one standard error over the data sets. Dashes start at the first point and have "
        "the exponent of the theorem: λ/(λ+1) with L at distance 0.1, and −1 in N.",
    )


def bound(measured: Measured) -> Figure:
    """Measured ε⁺ and ‖v − v⁽ⁱ⁾‖ of SOPRC against T, with the recurrence of Lemma 1."""
    figure, axes = canvas(1, 2, width=10.0, height=3.6)
    found = limits(measured)
    for color, scale in zip(COLORS, measured.plan.scales, strict=False):
        rows = [limit for limit in found if limit.scale == scale]
        steps, name = [row.steps for row in rows], f"C = {scale:g}"
        for panel, part in zip(axes[0], ("", "memory_"), strict=True):
            values, bounds = (
                [getattr(row, part + field) for row in rows] for field in ("distance", "bound")
            )
            panel.plot(steps, values, ".-", color=color, label=f"measured, {name}")
            panel.plot(steps, bounds, "--", color=color, label=f"Lemma 1, {name}")
    for panel, title in zip(axes[0], ("ε⁺", "‖v − v⁽ⁱ⁾‖, a positive replaced"), strict=True):
        panel.set_yscale("log")
        logarithmic_x(panel, measured.plan.steps)
        plain(panel, title=title, x="steps T", y="distance")
    axes[0, 0].legend(fontsize=7, frameon=False)
    return Figure(
        png(figure),
        "Distances of twin models against the number of steps on logarithmic axes, with the bounds "
        "of Lemma 1 as dashes.",
        "Lemma 1 with L at distance 0.1, smaller than the L of the lemma.",
    )


def _marks(measured: Measured, field: str) -> tuple[int, ...]:
    marks: tuple[int, ...] = getattr(measured.plan, field)
    return marks
