"""The study as a page: curves of loss, test AP and gain."""

from __future__ import annotations

from dataclasses import asdict

import torch

from rankwise.report import Figure, Section, Table
from rankwise.theory import Mean, mean_of
from reproductions.base import Outcome, Setting
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.saturation.measure import LOSSES, Curve, Plan, measure

__all__ = ["study"]

_WHY = (
    "σ(x) = x/(1+x) is flat for large x. An untrained model has FPR/TPR near 1, so with the prior "
    "π of a rare class x is near (1−π)/π and σ′(x) = (1+x)⁻² all but vanishes. The papers do not "
    "speak of it; their numbers are of other data and are not repeated here.",
    "The annealed gain is min((1−π)/π, 1/median ratio): it starts unsaturated, rises as the "
    "ranking gets better, and is the printed one once the median positive has a precision above "
    "one half.",
)


def study(setting: Setting) -> Outcome:
    """Measure and describe."""
    plan = Plan.of(setting)
    curves = measure(plan, setting)
    figure = _figure(curves)
    table = _table(curves)
    return Outcome(
        title="Do the losses as printed stall, and does the annealed gain mend it?",
        rows=[row for curve in curves for row in _rows(curve)],
        summary={
            "study": "saturation",
            "seed": setting.seed,
            "quick": setting.quick,
            "plan": asdict(plan),
            "test_ap": {name: asdict(_last(curves, name)) for name in LOSSES},
        },
        sections=[
            Section("Why", _WHY),
            Section("What was done", [_method(plan, setting)]),
            Section("What came out", [], [figure], [table]),
        ],
        figures={"figure": figure},
        table=table,
    )


def _method(plan: Plan, setting: Setting) -> str:
    return (
        f"Seed {setting.seed}{', a quick run' if setting.quick else ''}. {plan.items:,} synthetic "
        f"items of 20 features to train on and as many to test on, {plan.prior:.0%} positive; a "
        f"network with 32 hidden units from scratch, no warm start, {plan.steps} steps of SGD with "
        f"momentum on batches of {plan.batch:,} drawn at random; {plan.repeats} repeats, in each "
        "the same data, start and batches for every loss."
    )


def _last(curves: list[Curve], name: str) -> Mean:
    return mean_of([curve.test_ap[-1] for curve in curves if curve.loss == name])


def _table(curves: list[Curve]) -> Table:
    rows = []
    for name in LOSSES:
        own = [curve for curve in curves if curve.loss == name]
        last, middle = _last(curves, name), len(own[0].steps) // 4
        early = mean_of([curve.test_ap[middle] for curve in own])
        gains = [own[0].gain[0], sum(curve.gain[-1] for curve in own) / len(own)]
        shown = "–" if name == "cross-entropy" else f"{gains[0]:.2g} → {gains[1]:.3g}"
        rows.append((name, _interval(early), _interval(last), shown))
    quarter = curves[0].steps[len(curves[0].steps) // 4]
    header = ("loss", f"test AP after {quarter} steps", "at the end", "gain, first → last")
    return Table(header, rows, "Mean ± half of the 95 % interval over the repeats.")


def _interval(mean: Mean) -> str:
    return f"{mean.value:.3f} ± {mean.half_width():.3f}"


def _figure(curves: list[Curve]) -> Figure:
    figure, axes = canvas(1, 3, height=3.4)
    for color, name in zip(COLORS, LOSSES, strict=True):
        own = [curve for curve in curves if curve.loss == name]
        dashed = "--" if "printed" in name else "-"
        for place, part in zip(axes[0], ("value", "test_ap", "gain"), strict=True):
            values = torch.tensor([getattr(curve, part) for curve in own])
            place.plot(own[0].steps, values.mean(0), dashed, color=color, label=name)
    for place, title in zip(axes[0], ("training loss", "test AP", "gain k"), strict=True):
        plain(place, title=title, x="step")
    axes[0, 2].set_yscale("log")
    axes[0, 1].legend(fontsize=7, frameon=False)
    described = "Training loss, test AP and gain over the steps, for printed and annealed gains."
    return Figure(png(figure), described, "Means over the repeats; dashed: the gain as printed.")


def _rows(curve: Curve) -> list[dict[str, object]]:
    parts = zip(curve.steps, curve.value, curve.test_ap, curve.gain, strict=True)
    return [
        {"loss": curve.loss, "repeat": curve.repeat, "step": s, "value": v, "test_ap": a, "gain": g}
        for s, v, a, g in parts
    ]
