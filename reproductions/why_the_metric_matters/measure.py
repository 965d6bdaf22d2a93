"""Every metric of every ranking, and the checks that need more than one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from rankwise.metrics import auroc, average_precision, precision_at_k
from rankwise.objectives.auc import open_auc
from reproductions.frame import BasePlan, Setting
from reproductions.why_the_metric_matters.areas import Area, areas_of
from reproductions.why_the_metric_matters.example import Example, Ranking
from reproductions.why_the_metric_matters.examples import EXAMPLES, FIGURE_1_PRINTED, PAPK_TOP_2
from reproductions.why_the_metric_matters.metrics import measures, value_of


@dataclass(frozen=True)
class Plan(BasePlan):
    """Which examples; there is nothing random here."""

    DRAWS = None

    examples: tuple[Example, ...] = EXAMPLES
    area_of: Ranking = PAPK_TOP_2.rankings[0]
    smallest: int = 10  # items of the lists searched for those of Figure 1, P@10 needs ten
    largest: int = 14
    figure_1: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict(FIGURE_1_PRINTED))


@dataclass(frozen=True)
class Value:
    """A metric of a ranking."""

    example: str
    ranking: str
    metric: str
    family: str
    value: float


@dataclass(frozen=True)
class Measured:
    """What the report is made of."""

    values: list[Value]
    open_gap: float  # the largest difference of OpenAUC, with one known class, from AUROC
    areas: list[Area]
    solutions: dict[str, list[tuple[int, tuple[int, ...]]]]  # lists that fit Figure 1's numbers

    def of(self, example: Example) -> dict[str, dict[str, float]]:
        """Return the values of an example: metric, then ranking."""
        found: dict[str, dict[str, float]] = {}
        for value in self.values:
            if value.example == example.title:
                found.setdefault(value.metric, {})[value.ranking] = value.value
        return found


def measure(plan: Plan, setting: Setting) -> Measured:
    """Compute every metric of every ranking, the areas of Figure 2.3 and the lists of Figure 1."""
    values, gaps = [], [0.0]
    for example in setting.track(plan.examples, "example"):
        for ranking in example.rankings:
            scores, target = ranking.tensors()
            for each in measures(example):
                if ranking.given or not each.given_only:
                    value = value_of(each, scores, target)
                    names = (example.title, ranking.name, each.name, each.family)
                    values.append(Value(*names, value))
            # The negatives are the one known class, so the open score is the score itself.
            opened = float(open_auc(-scores.unsqueeze(-1), target))
            gaps.append(abs(opened - float(auroc(scores, target))))
    return Measured(values, max(gaps), areas_of(plan.area_of), _solutions(plan))


def _solutions(plan: Plan) -> dict[str, list[tuple[int, tuple[int, ...]]]]:
    """Search all lists of some sizes for those with the numbers that Figure 1 prints."""
    found: dict[str, list[tuple[int, tuple[int, ...]]]] = {name: [] for name in plan.figure_1}
    for items in range(plan.smallest, plan.largest + 1):
        codes = torch.arange(1, 2**items - 1)
        target = (codes.unsqueeze(-1) >> torch.arange(items - 1, -1, -1)) & 1
        scores = torch.arange(items, 0, -1, dtype=torch.float64).expand(target.shape)
        columns = [
            average_precision(scores, target, average="none"),
            auroc(scores, target, average="none"),
            *(precision_at_k(scores, target, k=k, average="none") for k in (1, 5, 10)),
        ]
        values = torch.stack(columns, dim=-1)
        for name, printed in plan.figure_1.items():
            wanted = torch.tensor([float(text) for text in printed], dtype=torch.float64)
            fits = ((values - wanted).abs() <= 0.0005 + 1e-9).all(-1)
            for labels in target[fits].tolist():
                ranks = tuple(rank for rank, label in enumerate(labels, start=1) if label)
                found[name].append((items, ranks))
    return found
