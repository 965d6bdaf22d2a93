"""What the values of the study say: means, gains, who is first, who became a constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from rankwise.naming import metric_of
from rankwise.theory import Mean, mean_of
from reproductions.fidelity.measure import METRICS, OBJECTIVES, REFERENCE, SPREAD, Value

CONSTANT = 0.01  # of the spread that the scores had before

Means = dict[tuple[str, str], Mean]
"""By objective and metric."""


def family(name: str) -> str:
    """The metric without its options: what an objective and a column have in common."""
    return name.partition("(")[0].partition("@")[0]


def own_cells() -> Iterator[tuple[str, str]]:
    """Every objective with every metric of its own family."""
    for name, full in OBJECTIVES.items():
        for criterion, metric in METRICS.items():
            if family(metric_of(full)) == family(metric):
                yield name, criterion


def low(mean: Mean) -> float:
    """The lower end of the 95 % interval."""
    return mean.value - mean.half_width()


def means_and_gains(values: Sequence[Value]) -> tuple[Means, Means]:
    """The mean of every cell, and that of its paired difference from cross-entropy."""
    cells = _by_cell(value for value in values if value.metric != SPREAD)
    means = {cell: mean_of(found) for cell, found in cells.items()}
    gains = {
        (name, criterion): mean_of(found - cells[REFERENCE, criterion])
        for (name, criterion), found in cells.items()
        if name != REFERENCE
    }
    return means, gains


def best_rows(gains: Means) -> dict[str, str]:
    """The objective that raises each metric most."""
    return {
        criterion: max(OBJECTIVES, key=lambda name: gains[name, criterion].value)
        for criterion in METRICS
    }


def leads(values: Sequence[Value], gains: Means) -> dict[str, tuple[str, Mean]]:
    """For each metric the best objective of the other kind, and how far ahead the first is of it.

    Of the metric's own family where another is first, of another family where its own is. The
    mean is that of the difference on the same problems.
    """
    own, cells, found = set(own_cells()), _by_cell(values), {}
    for criterion, first in best_rows(gains).items():
        wanted = (first, criterion) not in own
        others = [name for name in OBJECTIVES if ((name, criterion) in own) == wanted]
        second = max(others, key=lambda name: gains[name, criterion].value)
        found[criterion] = second, mean_of(cells[first, criterion] - cells[second, criterion])
    return found


def constant_scorers(values: Sequence[Value]) -> dict[str, int]:
    """On how many problems an objective left hardly anything of the scores' spread."""
    found: dict[str, int] = {}
    for value in values:
        if value.metric == SPREAD and value.value < CONSTANT:
            found[value.objective] = found.get(value.objective, 0) + 1
    return found


def _by_cell(values: Iterator[Value] | Sequence[Value]) -> dict[tuple[str, str], Tensor]:
    cells: dict[tuple[str, str], list[float]] = {}
    for value in values:
        cells.setdefault((value.objective, value.metric), []).append(value.value)
    return {cell: torch.tensor(found, dtype=torch.float64) for cell, found in cells.items()}
