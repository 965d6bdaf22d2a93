"""A target of more than two classes: metrics of scores (rows, classes), and every class alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankwise import metrics
from rankwise.data import DataError, Table
from rankwise.metrics import holm
from rankwise.naming import class_metric
from rankwise.tasks.compare.metrics import Estimate, Floats, Truth, corrected, finite

if TYPE_CHECKING:
    from rankwise.tasks.compare.selection import Evaluation
    from rankwise.tasks.compare.settings import Settings

METRICS = ("ap", "auc", "auc(scheme=ovo)", "ap(average=weighted)", "auc(average=weighted)")
"""Metrics that are reported besides the one that decides."""
BY_CLASS = ("ap", "auc")
_WORK = 1e7  # resampled scores: one or two seconds a comparison


@dataclass(frozen=True, eq=False)
class ClassTruth(Truth):
    """The class numbers that scores of the shape (rows, classes) are compared with."""

    classes: int = 2

    def part(self, rows: NDArray[np.bool_]) -> ClassTruth:
        weight = None if self.weight is None else self.weight[rows]
        return ClassTruth(self.target[rows], None, weight, self.classes)

    def of_class(self, number: int) -> Truth:
        """Return the truth of one class against the rest."""
        return Truth((self.target == number).astype(np.float64), None, self.weight)

    def value(self, name: str, scores: Floats) -> float:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ classes have", RuntimeWarning)
            return float(class_metric(name).value(scores, self.target, weight=self.weight))

    def intervals(
        self, names: Sequence[str], scores: Floats, *, seed: int = 0
    ) -> dict[str, metrics.Interval]:
        """Return metrics with their 95 % intervals, by the bootstrap over rows."""
        return {
            name: class_metric(name).interval(
                scores, self.target, weight=self.weight, resamples=self._resamples, seed=seed
            )
            for name in names
        }

    def difference(
        self, name: str, scores: Floats, others: Floats, *, seed: int = 0
    ) -> metrics.Comparison:
        """Compare two scores of the same rows, by the bootstrap over rows."""
        return class_metric(name).compare(
            scores, others, self.target, weight=self.weight, resamples=self._resamples, seed=seed
        )

    @property
    def _resamples(self) -> int:
        return max(200, min(1000, int(_WORK / max(1, len(self.target) * self.classes))))


def require_metric_of_classes(name: str, classes: int) -> None:
    """Raise on a metric that has no mean over classes."""
    try:
        class_metric(name)
    except ValueError as error:
        raise DataError(
            f'metric "{name}" has no value for the {classes} classes of the target: {error}; take '
            "one such as ap, auc or auc(scheme=ovo), or name one class with --positive"
        ) from None


def require_for_classes(settings: Settings, table: Table) -> None:
    """Raise on settings that are for two classes."""
    count = len(table.classes)
    require_metric_of_classes(settings.metric, count)
    given = {"--group": settings.group, "--threshold": settings.threshold}
    for option, value in given.items():
        if value is not None:
            raise DataError(
                f"{option} {value} is for a target of two classes, and {settings.target!r} has "
                f"{count}: leave it out, or name one class with --positive"
            )


def by_class(evaluation: Evaluation, number: int, base: int) -> list[dict[str, object]]:
    """Return the AP and AUROC of every class by a candidate, and their gains over the baseline.

    p-values are adjusted for the number of classes by Holm's method, each metric by itself.
    """
    table, rows = evaluation.problem.table, evaluation.rows
    counts = table.class_counts(rows)
    found: list[dict[str, object]] = [
        {"class": label, "rows": n, "share": n / max(1, len(rows))} for label, n in counts.items()
    ]
    for name in BY_CLASS:
        gains = [_of_class(evaluation, name, c, number, base) for c in range(len(counts))]
        adjusted = holm([gain.p for _, _, gain in gains])
        for line, (own, other, gain), p in zip(found, gains, adjusted, strict=True):
            line[name] = _numbers(own)
            line[f"{name} of the baseline"] = _numbers(other)
            line[f"{name} difference"] = {**_numbers(gain), "p_holm": finite(p)}
    return found


def _of_class(
    evaluation: Evaluation, name: str, c: int, number: int, base: int
) -> tuple[Estimate, Estimate, Estimate]:
    """Return a metric of one class by a candidate and the baseline, and the difference."""
    if evaluation.repeats:
        pairs = []
        for problem, fitted in evaluation.folds:
            tested = problem.plan.parts.test
            truth = _truth(problem.truth(tested), c)
            pairs.append([truth.value(name, fitted[n].test[:, c]) for n in (number, base)])
        values, sizes = np.array(pairs), evaluation.sizes
        own, other = (corrected(column, *sizes).within(0.0, 1.0) for column in values.T)
        return own, other, corrected(values[:, 0] - values[:, 1], *sizes)
    seed = evaluation.problem.settings.seed
    truth = _truth(evaluation.problem.truth(evaluation.rows), c)
    scores = [np.ascontiguousarray(evaluation.scores(n)[:, c]) for n in (number, base)]
    own, other = (
        Estimate(each.value, each.low, each.high)
        for each in (truth.interval(name, column, seed=seed) for column in scores)
    )
    if number == base:
        return own, other, Estimate(0.0, 0.0, 0.0, 1.0)
    gain = truth.difference(name, *scores, seed=seed)
    return own, other, Estimate(gain.difference, gain.low, gain.high, gain.p_value)


def _truth(whole: Truth, c: int) -> Truth:
    assert isinstance(whole, ClassTruth)
    return whole.of_class(c)


def _numbers(found: Estimate) -> dict[str, float | None]:
    known = {("value" if n == "mean" else n): finite(v) for n, v in asdict(found).items()}
    if known["p"] is None:
        del known["p"]
    return known
