"""What the study would have measured, by rule: gaps of 1/size, and 0.3 of complexity."""

from __future__ import annotations

from collections.abc import Callable

from tests.reproductions.generalization.small import small_plan

from rankwise.theory import Mean
from reproductions.generalization.losses import METRICS
from reproductions.generalization.measure import Cell, Complexity, Measured
from reproductions.generalization.plan import AXES, Plan
from reproductions.generalization.problems import Gaussian
from reproductions.generalization.twins import TWIN_LOSSES, Twins

Gap = Callable[[str, int], float]


def plan() -> Plan:
    """Return a plan of two sizes and two samples."""
    return small_plan()


def measured(
    gap: Gap = lambda loss, size: 1 / size, bound: float = 0.1, metric: float = -0.1
) -> Measured:
    """``metric`` is by how much the 1 − AP of StableAP on fresh lists differs from the others'."""
    settings = plan()
    problems = (Gaussian(), settings.table)
    cells = []
    for problem in problems:
        for axis in AXES:
            for size in settings.sizes_of(axis):
                for loss in METRICS:
                    value, known = gap(loss, size), problem.name == Gaussian().name
                    test = 0.4 + (metric if loss == "StableAP" else 0.0)
                    cells.append(
                        Cell(
                            problem.name,
                            axis,
                            size,
                            loss,
                            *settings.counts(axis, size),
                            train=[0.2, 0.2],
                            test=[0.2 + value, 0.2 + value],
                            others_train=[0.1, 0.1],
                            others_test=[0.1, 0.1],
                            metric_train=[0.3, 0.3],
                            metric_test=[test, test + 1e-6],
                            excess=[value, value] if known else [],
                            limit=[0.2, 0.2] if known and axis != "lists" else [],
                        )
                    )
    twins = [
        Twins(loss, n, [bound / 8 / 2] * 2, [bound / 24 / 2] * 2, [0.02] * 2, [0.02] * 2, 1.0)
        for loss in TWIN_LOSSES
        for n in settings.twin_sizes
    ]
    drawn = [
        Complexity(axis, size, Mean(0.3, 0.01, 2)) for axis in AXES[1:] for size in settings.sizes
    ]
    return Measured(settings, problems, cells, twins, drawn)
