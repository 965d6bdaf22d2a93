"""The study as a page: the curves of the paper's Figure 1."""

from __future__ import annotations

from dataclasses import asdict

from rankwise.report import Figure, Section, Table
from reproductions.base import Outcome, Setting
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.papk_figure1.measure import CONDITIONS, WATCHED, Plan, Point, measure

__all__ = ["study"]

_NAMES = (*WATCHED, "risk")
_PAPER = {
    "strong": "all four converge to 0",
    "β": "ramp and avg converge to 0; max and TS do not, and rise in the later half",
    "moderate": "ramp and TS converge to 0",
}
_DIFFERS = (
    "The paper shows curves and no numbers, and gives neither η nor the number of steps. Its third "
    "condition is drawn as Definition 4 says. TS is that of its Algorithm 2, which is not convex "
    "(its Eq. 14 is another function). The weak condition is left out there for want of an exact "
    "method for the ramp surrogate, and here as well.",
    "The paper orders risk ≤ ramp ≤ avg ≤ max (Propositions 3 and 5). The first and ramp ≤ max and "
    "avg ≤ max hold; risk ≤ avg and ramp ≤ avg do not in general: avg is the hinge of a mean, "
    "which one high positive satisfies for all. In these curves avg can lie below ramp.",
)


def study(setting: Setting) -> Outcome:
    """Measure and describe."""
    plan = Plan.of(setting)
    points = measure(plan, setting)
    figure, table = _figure(points), _table(points)
    return Outcome(
        title="pAp@k, Figure 1: the surrogates under three margin conditions",
        rows=[asdict(point) for point in points],
        summary={
            "study": "papk-figure1",
            "seed": setting.seed,
            "quick": setting.quick,
            "plan": asdict(plan),
            "last": {
                condition.name: {name: _at(points, condition.name, name)[-1] for name in _NAMES}
                for condition in CONDITIONS
            },
        },
        sections=[
            Section("What was done", [_method(plan, setting)]),
            Section("What came out", [], [figure], [table]),
            Section("Where ours differs from the paper, and why", _DIFFERS),
        ],
        figures={"figure": figure},
        table=table,
    )


def _method(plan: Plan, setting: Setting) -> str:
    return (
        f"Seed {setting.seed}{', a quick run' if setting.quick else ''}. {plan.n_positives} "
        f"positives from N(0, I) and {plan.n_negatives:,} negatives from N(½, I) in "
        f"{plan.features} dimensions, the negatives cut off so that w = 1 realizes the strong, the "
        f"β- or the moderate β-margin condition; k = {plan.k}. The surrogate that is consistent "
        f"under each, max, avg and TS, is descended from w = 0 for {plan.steps:,} steps η/√(t+1), "
        f"η = {', '.join(f'{condition.eta:g}' for condition in CONDITIONS)}, and all are watched, "
        "with the structural surrogate of AUC (Eq. 4). The first η was chosen for getting there: "
        "five smaller ones, from .01 to .3, were tried before and had not brought max to 0."
    )


def _at(points: list[Point], condition: str, name: str) -> list[float]:
    return [p.value for p in points if (p.condition, p.watched) == (condition, name)]


def _table(points: list[Point]) -> Table:
    rows = []
    for condition in CONDITIONS:
        last = [f"{_at(points, condition.name, name)[-1]:.3g}" for name in _NAMES]
        trained = f"{condition.name} β-margin" if condition.name != "β" else "β-margin"
        rows.append((f"{trained}, {condition.surrogate}", *last, _PAPER[condition.name]))
    header = ("condition, descended", *_NAMES, "the paper's words")
    return Table(header, rows, "Values at the last step; at w = 0 the four are 1.")


def _figure(points: list[Point]) -> Figure:
    figure, axes = canvas(1, 3, height=3.4)
    for place, condition in zip(axes[0], CONDITIONS, strict=True):
        steps = sorted({p.step for p in points if p.condition == condition.name})
        for color, name in zip((*COLORS, "#000000"), _NAMES, strict=True):
            values = _at(points, condition.name, name)
            style = "-" if name in {"ramp", "avg", "max", "ts"} else ":"
            place.plot([s + 1 for s in steps], values, style, color=color, label=name)
        plain(place, title=f"{condition.name}: {condition.surrogate} descended", x="step + 1")
        place.set_xscale("log")
        place.set_yscale("symlog", linthresh=0.01)
        place.set_ylim(bottom=0)
    axes[0, 0].legend(fontsize=7, frameon=False)
    described = "Ramp, avg, max, TS, AUC surrogate and risk over the steps, three conditions."
    return Figure(png(figure), described, "Below 0.01 the vertical axis is linear, down to 0.")
