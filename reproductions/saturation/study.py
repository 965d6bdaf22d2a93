"""Training curves under the gain as published and the annealed gain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from rankwise.baselines import CrossEntropy
from rankwise.metrics import average_precision
from rankwise.objectives import SOPRC, Objective, StableAP
from rankwise.report import Figure, Section, Table
from rankwise.theory import Mean, mean_of
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.frame import BasePlan, Report, Setting, Study
from reproductions.sentences import difference, share, standing

FEATURES, SHIFT = 20, 2.0

Maker = Callable[[float], Objective]

LOSSES: dict[str, Maker] = {
    "cross-entropy": lambda prior: CrossEntropy(),
    "SOPRC, published gain": partial(SOPRC, gain="fixed"),
    "SOPRC, annealed": partial(SOPRC, gain="annealed"),
    "StableAP, published gain": partial(StableAP, gain="fixed"),
    "StableAP, annealed": partial(StableAP, gain="annealed"),
}


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is trained."""

    QUICK: ClassVar = {"steps": 120, "repeats": 3}

    prior: float = 0.01
    items: int = 20_000
    batch: int = 1_000
    steps: int = 400
    every: int = 20
    repeats: int = 5


@dataclass(frozen=True)
class Curve:
    """One training: loss, test AP and gain at the steps looked at; NaN where there is no gain."""

    loss: str
    repeat: int
    steps: list[int]
    value: list[float]
    test_ap: list[float]
    gain: list[float]


def measure(plan: Plan, setting: Setting) -> list[Curve]:
    """Every loss on every repeat: same data, same start, same batches."""
    work = [(name, repeat) for repeat in range(plan.repeats) for name in LOSSES]
    return setting.each(plan, work, "training", partial(_train, plan, setting.seed), Curve)


def _train(plan: Plan, seed: int, run: tuple[str, int]) -> Curve:
    name, repeat = run
    generator = torch.Generator().manual_seed(1_000 * seed + repeat)
    x, y = _data(plan, generator)
    x_test, y_test = _data(plan, generator)
    torch.manual_seed(1_000 * seed + repeat)
    network = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.3, momentum=0.9)
    loss = LOSSES[name](plan.prior)
    seen: dict[str, list[Any]] = {"steps": [], "value": [], "test_ap": [], "gain": []}
    for step in range(plan.steps + 1):
        rows = torch.randint(0, plan.items, (plan.batch,), generator=generator)
        value = loss(network(x[rows]), y[rows])
        if step % plan.every == 0:
            with torch.no_grad():
                precision = average_precision(network(x_test), y_test)
            gain = getattr(loss, "multiplier", None)
            published = (1 - plan.prior) / plan.prior if "published" in name else float("nan")
            seen["steps"].append(step)
            seen["value"].append(float(value.detach()))
            seen["test_ap"].append(float(precision))
            seen["gain"].append(published if gain is None else float(gain))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    return Curve(name, repeat, **seen)


def _data(plan: Plan, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A rare class shifted along one direction, bent so that a line is not enough."""
    y = torch.rand(plan.items, generator=generator) < plan.prior
    x = torch.randn(plan.items, FEATURES, generator=generator)
    x[y, 0] += SHIFT
    x[y, 1] *= 0.3
    return x, y


_WHY = (
    "σ(x) = x/(1+x) is flat for large x. An untrained model has FPR/TPR near 1, so with the prior "
    "π of a rare class x is near (1−π)/π and σ′(x) = (1+x)⁻² all but vanishes. The papers do not "
    "speak of it; their numbers are of other data and are not repeated here.",
    "The annealed gain is min((1−π)/π, 1/median ratio): it starts unsaturated, rises as the "
    "ranking gets better, and is the published one once the median positive has a precision above "
    "one half.",
)


def report(plan: Plan, curves: list[Curve], setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    figure = _figure(curves)
    table = _table(curves)
    return Report(
        title="Do the published losses stall, and does the annealed gain help?",
        verdict=_verdict(curves),
        rows=[row for curve in curves for row in _rows(curve)],
        summary={
            "test_ap": {name: asdict(_last(curves, name)) for name in LOSSES},
            "annealed": {name: _compared(curves, name) for name in ("SOPRC", "StableAP")},
        },
        sections=[
            Section("Why", _WHY),
            Section("Method", [_method(plan, setting)]),
            Section("Results", outcome(curves), [figure], [table]),
        ],
        figures={"figure": figure},
        table=table,
    )


def _verdict(curves: list[Curve]) -> str:
    found = [standing(_gained(curves, name)) for name in ("SOPRC", "StableAP")]
    return (
        "Starting a loss where it is steep (the annealed gain) leads to a better ranking of new "
        f"data than the published form for {share(found.count('higher'), len(found))} losses, and "
        f"to a worse one for {found.count('lower') or 'none'}."
    )


def outcome(curves: list[Curve]) -> list[str]:
    """What the annealed gain changes at the end, for both losses."""
    said = []
    for name in ("SOPRC", "StableAP"):
        apart, found = _gained(curves, name), _compared(curves, name)
        said.append(
            f"{name}: with the published gain the training loss goes from {found['first']:.3f} to "
            f"{found['last']:.3f}; with the annealed gain the last test AP is {standing(apart)} "
            f"({difference(apart)}, by the 95 % interval over the repeats)."
        )
    return said


def _compared(curves: list[Curve], name: str) -> dict[str, float]:
    """First and last training loss with the published gain, and what annealing adds to test AP."""
    published = [c for c in curves if c.loss == f"{name}, published gain"]
    first, last = (mean_of([c.value[i] for c in published]).value for i in (0, -1))
    apart = _gained(curves, name)
    return {"first": first, "last": last, "more": apart.value, "half_width": apart.half_width()}


def _gained(curves: list[Curve], name: str) -> Mean:
    """Last test AP with the annealed gain less that with the published one, on the same repeats."""
    ours, published = (
        {c.repeat: c.test_ap[-1] for c in curves if c.loss == f"{name}, {gain}"}
        for gain in ("annealed", "published gain")
    )
    return mean_of([ours[repeat] - published[repeat] for repeat in ours])


def _method(plan: Plan, setting: Setting) -> str:
    return (
        f"{setting} {plan.items:,} synthetic "
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
        dashed = "--" if "published" in name else "-"
        for place, part in zip(axes[0], ("value", "test_ap", "gain"), strict=True):
            values = torch.tensor([getattr(curve, part) for curve in own])
            place.plot(own[0].steps, values.mean(0), dashed, color=color, label=name)
    for place, title in zip(axes[0], ("training loss", "test AP", "gain k"), strict=True):
        plain(place, title=title, x="step")
    axes[0, 2].set_yscale("log")
    axes[0, 1].legend(fontsize=7, frameon=False)
    described = "Training loss, test AP and gain over the steps, for published and annealed gains."
    return Figure(png(figure), described, "Means over the repeats; dashed: the gain as published.")


def _rows(curve: Curve) -> list[dict[str, object]]:
    parts = zip(curve.steps, curve.value, curve.test_ap, curve.gain, strict=True)
    return [
        {"loss": curve.loss, "repeat": curve.repeat, "step": s, "value": v, "test_ap": a, "gain": g}
        for s, v, a, g in parts
    ]


study = Study(Plan, measure, report)
