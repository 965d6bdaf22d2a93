"""Curves: precision by recall, validation by step, and the effect of τ and of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.report import Figure
from reproductions.drawing import COLORS, canvas, logarithmic_x, plain, png
from reproductions.retrieval.ablations import Effect
from reproductions.retrieval.cell import Cell

_OURS = {
    "SOPRC": COLORS[0],
    "SOPRC, no L_var": COLORS[1],
    "StableAP": COLORS[2],
    "StableAP + DFM": COLORS[3],
}
_OTHERS = {"SupCon": COLORS[4], "SmoothAP": "#1f78b4", "triplet": "#555555"}
_GRAY = "#c9ced2"
_STEPS = ("#f0a431", "#d9653b", "#a8325e", "#66217a", "#2b1055")  # light to dark
_CHANGED = {"tau": "τ", "batch": "batch size"}
_VALIDATION = "mAP of validation"

Benches = dict[tuple[str, str], list[Cell]]


def precision_recall(benches: Benches) -> Figure:
    """Mean precision at each recall, mean over the seeds."""

    def draw(axes: Any, cells: list[Cell], style: dict[str, Any]) -> None:
        mean = np.mean([cell.precision for cell in cells], axis=0)
        axes.plot(np.linspace(0, 1, len(mean)), mean, **style)

    words = "Mean precision over the test queries at each recall, mean over the seeds"
    return _panels(benches, draw, "recall", "mean precision", words)


def convergence(benches: Benches) -> Figure:
    """mAP of validation by step, mean over the seeds."""

    def draw(axes: Any, cells: list[Cell], style: dict[str, Any]) -> None:
        steps, mean = mean_history(cells)
        axes.plot(steps, mean, marker=".", **style)

    words = "mAP of the validation classes by step, mean over the seeds, at the chosen rate"
    return _panels(benches, draw, "step", _VALIDATION, words)


def _panels(benches: Benches, draw: Any, x: str, y: str, words: str) -> Figure:
    columns = 2 if len(benches) > 1 else 1
    rows = -(-len(benches) // columns)
    figure, axes = canvas(rows, columns, height=3.4)
    flat = axes.flatten()
    for place, ((problem, kind), cells) in zip(flat, benches.items(), strict=False):
        for method in sorted({cell.method for cell in cells}, key=_front):
            own = [cell for cell in cells if cell.method == method]
            draw(place, own, _style(method))
        plain(place, title=f"{problem}, {kind}", x=x, y=y)
        place.plot([], [], color=_GRAY, label="the others")
        place.legend(fontsize=7, frameon=False)
    for place in flat[len(benches) :]:
        place.set_axis_off()
    return Figure(png(figure), words + ".", words + "; the others are gray.")


def _front(method: str) -> tuple[int, str]:
    """Ours are drawn last, over the others."""
    return (2 if method in _OURS else 1 if method in _OTHERS else 0), method


def _style(method: str) -> dict[str, Any]:
    color = _OURS.get(method) or _OTHERS.get(method)
    if color is None:
        return {"color": _GRAY, "linewidth": 1.0}
    wide = 1.7 if method in _OURS else 1.2
    return {"color": color, "linewidth": wide, "label": method}


def effect_figure(effects: Sequence[Effect]) -> Figure:
    """Test mAP by τ and by the size of the batch, each data set with its own panels."""
    problems = list(dict.fromkeys(effect.cells[0].problem for effect in effects))
    figure, axes = canvas(len(problems), 2, height=2.8)
    said = []
    for row, problem in enumerate(problems):
        for column, of in enumerate(("tau", "batch")):
            place = axes[row, column]
            own = [e for e in effects if e.of == of and e.cells[0].problem == problem]
            for method in dict.fromkeys(e.cells[0].method for e in own):
                mine = [e for e in own if e.cells[0].method == method]
                values = [e.value for e in mine]
                means = [float(np.mean([cell.map for cell in e.cells])) for e in mine]
                place.plot(values, means, ".-", color=_OURS[method], label=method)
                points = ", ".join(f"{v:g}: {m:.3f}" for v, m in zip(values, means, strict=True))
                said.append(f"{problem}, {method}, {of} {points}")
            logarithmic_x(place, sorted({e.value for e in own}))
            x = "τ of the surrogate" if of == "tau" else "images of a batch"
            plain(place, title=problem, x=x, y="test mAP")
            place.legend(fontsize=8, frameon=False)
    words = "Test mAP of our two losses by τ and by the size of the batch, all else as chosen."
    return Figure(png(figure), words + " " + "; ".join(said) + ".", words)


def effect_curves(effects: Sequence[Effect], of: str) -> Figure:
    """mAP of validation by step for each τ or each batch: a row by data set, a column by loss."""
    own = [effect for effect in effects if effect.of == of]
    problems, methods = (
        list(dict.fromkeys(getattr(effect.cells[0], name) for effect in own))
        for name in ("problem", "method")
    )
    figure, axes = canvas(len(problems), len(methods), height=2.9, sharey="row", sharex=True)
    said = []
    for row, problem in zip(axes, problems, strict=True):
        for place, method in zip(row, methods, strict=True):
            mine = [effect for effect in own if effect.place == (problem, method)]
            for effect, color in zip(mine, _ramp(len(mine)), strict=True):
                steps, mean = mean_history(effect.cells)
                name = f"τ = {effect.value:g}"
                if of == "batch":
                    name = f"{effect.value:g} images ({effect.named})"
                place.plot(steps, mean, ".-", color=color, markersize=4, label=name)
            points = ", ".join(f"{e.value:g}: {max(mean_history(e.cells)[1]):.3f}" for e in mine)
            said.append(f"{problem}, {method}, highest by {_CHANGED[of]} {points}")
            left = place is row[0]
            plain(place, title=f"{problem}, {method}", x="step", y=_VALIDATION if left else "")
            place.legend(fontsize=8, frameon=False)
    words = f"mAP of the validation classes by step for each {_CHANGED[of]}, mean over the seeds"
    return Figure(png(figure), f"{words}. {'; '.join(said)}.", f"{words}, all else as chosen.")


def mean_history(cells: Sequence[Cell]) -> tuple[list[int], list[float]]:
    """Steps, and the mean over the cells of the mAP of validation there."""
    steps = [step for step, _ in cells[0].history]
    mean = np.mean([[value for _, value in cell.history] for cell in cells], axis=0)
    return steps, mean.tolist()


def _ramp(count: int) -> list[str]:
    """Colors from light to dark, for values in order."""
    return [_STEPS[round(place)] for place in np.linspace(0, len(_STEPS) - 1, count)]
