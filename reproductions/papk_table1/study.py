"""Table 1 of pAp@k: five rankings under every metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import torch
from torch import Tensor

from rankwise.metrics import auroc, pap_at_k, partial_auroc, precision_at_k
from rankwise.report import Figure, Section, Table
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.frame import BasePlan, Report, Setting, Study
from reproductions.sentences import listed

RANKINGS = {
    "f₁": "01101110000",
    "f₂": "10111000001",
    "f₃": "11000000111",
    "f₄": "11011100000",
    "f₅": "11101100000",
}
"""The labels from the highest score down: five relevant of eleven."""


def _of(over: int, under: int) -> Fraction:
    return Fraction(over, under)


PUBLISHED = {
    "AUC": {"f₁": _of(22, 30), "f₂": _of(21, 30), "f₃": _of(12, 30)},
    "pAUC(0, 2/6]": {"f₁": _of(2, 10), "f₂": _of(5, 10), "f₃": _of(4, 10)},
    "pAp@2": {"f₁": _of(2, 4), "f₂": _of(3, 4), "f₃": _of(1, 1)},
    "prec@6": {"f₄": _of(5, 6), "f₅": _of(5, 6)},
    "pAp@6": {"f₄": _of(27, 30), "f₅": _of(28, 30)},
}
METRICS: dict[str, Callable[[Tensor, Tensor], object]] = {
    "AUC": auroc,
    "pAUC(0, 2/6]": partial(partial_auroc, max_fpr=2 / 6),
    "pAp@2": partial(pap_at_k, k=2),
    "prec@6": partial(precision_at_k, k=6),
    "pAp@6": partial(pap_at_k, k=6),
}


@dataclass(frozen=True)
class Plan(BasePlan):
    """Which rankings; there is nothing random here."""

    DRAWS = None

    rankings: dict[str, str] = field(default_factory=lambda: dict(RANKINGS))


@dataclass(frozen=True)
class Value:
    """A metric of a ranking, ours and, where the paper has one, the paper's."""

    ranking: str
    metric: str
    ours: float
    paper: Fraction | None

    @property
    def agrees(self) -> bool:
        """Whether the two are the same number, or there is only ours."""
        return self.paper is None or abs(self.ours - float(self.paper)) < 1e-12


def measure(plan: Plan, setting: Setting) -> list[Value]:
    """Every metric of every ranking."""
    found = []
    for name, labels in setting.track(list(plan.rankings.items()), "ranking"):
        target = torch.tensor([int(label) for label in labels])
        scores = torch.arange(len(labels), 0, -1, dtype=torch.float64)
        for metric, compute in METRICS.items():
            value = float(torch.as_tensor(compute(scores, target)))
            found.append(Value(name, metric, value, PUBLISHED[metric].get(name)))
    return found


_CLAIM = (
    "Five relevant and six irrelevant items, ranked in five ways. The paper: with two places f₃ is "
    "the best, while AUC prefers f₁ and pAUC(0, 2/6] prefers f₂, because both look at relevant "
    "items that no place is left for; with six places f₅ is better than f₄, and precision@6 does "
    "not see it, while pAp@k sees both.",
)
_PLACES = {
    "two": (("f₁", "f₂", "f₃"), ("AUC", "pAUC(0, 2/6]", "pAp@2")),
    "six": (("f₄", "f₅"), ("prec@6", "pAp@6")),
}


def report(plan: Plan, values: list[Value], setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    figure, table = _figure(plan), _table(plan, values)
    printed = [value for value in values if value.paper is not None]
    agree = sum(value.agrees for value in printed)
    differs = f"Nowhere: all {len(printed)} published numbers are exactly ours."
    if agree < len(printed):
        differs = f"{agree} of the {len(printed)} published numbers are ours: see the table."
    return Report(
        title="pAp@k, Table 1: which ranking has the better top",
        rows=[
            {
                "ranking": value.ranking,
                "metric": value.metric,
                "ours": value.ours,
                "paper": "" if value.paper is None else str(value.paper),
            }
            for value in values
        ],
        summary={
            "agrees": agree == len(printed),
            "values": {f"{v.metric} of {v.ranking}": v.ours for v in values},
        },
        sections=[
            Section("Claim", _CLAIM),
            Section(
                "What came out",
                [f"Seed {setting.seed}, which changes nothing.", *_preferred(values)],
                [figure],
                [table],
            ),
            Section(
                "Where ours differs from the paper, and why",
                [f"{differs} The paper leaves out the metrics shown here without a bar."],
            ),
        ],
        figures={"figure": figure},
        table=table,
    )


def _preferred(values: list[Value]) -> list[str]:
    """Which rankings each metric has first, for both numbers of places."""
    said = []
    for places, (rankings, metrics) in _PLACES.items():
        best = []
        for metric in metrics:
            own = {v.ranking: v.ours for v in values if v.metric == metric}
            there = [name for name in rankings if name in own]
            if there:
                highest = max(own[name] for name in there)
                first = [name for name in there if own[name] > highest - 1e-12]
                best.append(f"{metric} has {listed(first)} first")
        if best:
            said.append(f"With {places} places, of {listed(rankings)}: {', '.join(best)}.")
    return said


def _table(plan: Plan, values: list[Value]) -> Table:
    rows = []
    for metric in METRICS:
        own = {v.ranking: v for v in values if v.metric == metric}
        rows.append((metric, *(_shown(own[name]) for name in plan.rankings)))
    return Table(("metric", *plan.rankings), rows, "Ours; after the bar the paper's.")


def _shown(value: Value) -> str:
    ours = Fraction(value.ours).limit_denominator(60)
    return f"{ours}" if value.paper is None else f"{ours} | {value.paper}"


def _figure(plan: Plan) -> Figure:
    figure, axes = canvas(1, 1, width=7.0, height=2.6)
    place = axes[0, 0]
    for row, (name, labels) in enumerate(plan.rankings.items()):
        for rank, label in enumerate(labels, start=1):
            relevant = label == "1"
            place.plot(
                rank,
                -row,
                "o",
                markersize=11,
                color=COLORS[2] if relevant else "white",
                markeredgecolor=COLORS[2] if relevant else COLORS[1],
            )
        place.text(0.2, -row, name, ha="right", va="center", fontsize=10)
    plain(place, x="rank")
    place.set_yticks([])
    place.set_xticks(range(1, 12))
    place.set_ylim(-len(plan.rankings) + 0.5, 0.5)
    place.set_xlim(-0.3, 11.6)
    place.grid(visible=False)
    return Figure(
        png(figure), "The five rankings of Table 1.", "Filled: relevant; the best rank is 1."
    )


study = Study(Plan, measure, report)
