"""Metrics by name with their intervals, and the difference of two models."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from rankwise import metrics
from rankwise.data import DataError
from rankwise.naming import canonical_class_metric, canonical_metric, metric

Floats = NDArray[np.float64]
_OF_USERS = ("expected_reciprocal_rank", "inst")
NEED_GROUPS = ("ndcg", "mean_reciprocal_rank", "hit_at_k", "rank_biased_precision", *_OF_USERS)
_INCOMPLETE = ("bpref", "inferred_average_precision")
NEED_COUNTS = ("mean_reciprocal_rank", "hit_at_k", "map_at_r", *_OF_USERS, *_INCOMPLETE)
_WORK = 1e7  # resampled items: one or two seconds a comparison
_SHORT = 10_000  # rows up to which formulas pay: longer lists are sorted once for all metrics


def resolve_metric(name: str, *, grouped: bool, several: bool = False) -> str:
    """Return the canonical name of a metric; a DataError for none, or one that needs lists.

    ``several`` allows names of several classes, such as ``mauc``.
    """
    try:
        found = metric(name)
    except ValueError as error:
        if several and is_of_classes(name):
            return canonical_class_metric(name)
        raise DataError(str(error)) from error
    if not grouped and found.metric.__name__ in NEED_GROUPS:
        raise DataError(
            f'metric "{name}" is a mean over lists: say which list a row belongs to with --group'
        )
    return canonical_metric(name)


def is_of_classes(name: str) -> bool:
    """Return whether a name is that of a metric of several classes alone, such as ``mauc``."""
    try:
        metric(name)
    except ValueError:
        try:
            canonical_class_metric(name)
        except ValueError:
            return False
        return True
    return False


def require_two_classes(name: str) -> None:
    """Raise on a metric of more than two classes."""
    if is_of_classes(name):
        raise DataError(
            f'metric "{name}" is one of more than two classes, and the target has two; take one '
            "such as ap or auc"
        )


def require_higher_is_better(name: str) -> None:
    """Raise on a metric to choose by of which lower is better."""
    if is_of_classes(name):
        return  # there is the AUC alone, and weighted means of others
    if not metric(name).higher_is_better:
        raise DataError(
            f'metric "{name}" is better when it is lower, and models are chosen by the highest '
            "value: choose by tpr_at_fpr(max_fpr=…), or tpauc(min_tpr=…, max_fpr=1)"
        )


def is_graded(name: str) -> bool:
    """Return whether a metric takes relevances rather than two classes."""
    return not is_of_classes(name) and metric(name).setting.kernel.graded


def takes_weights(name: str, weight: Floats | None) -> bool:
    """Return whether a metric is defined with these weights; some need integers."""
    found = metric(name)
    cut = found.metric is metrics.average_precision and found.options.get("k") is not None
    if weight is None or not (cut or found.metric.__name__ in NEED_COUNTS):
        return True
    return bool((weight == weight.round()).all())


def require_weights(name: str, weight: Floats | None) -> None:
    """Raise where a metric counts rows and a weight is a part of one."""
    if weight is not None and not takes_weights(name, weight):
        found = weight[weight != weight.round()][0]
        raise DataError(
            f'metric "{name}" counts rows: --weight must hold whole numbers for it, got {found:g}; '
            "round the weights, or take another metric"
        )


def require_scale(name: str, target: Floats) -> None:
    """Raise where a relevance is above the scale of a metric, such as err."""
    most = metric(name).setting.options.get("max_relevance")
    if isinstance(most, int) and target.max(initial=0) > most:
        raise DataError(
            f'metric "{name}" has relevances up to {most}, got {target.max():g}; pass the largest '
            f"of the scale, such as err@10(max_relevance={math.ceil(target.max())})"
        )


def every_metric(rows: int, *, grouped: bool, graded: bool) -> list[str]:
    """Return the names of metrics that suit data of this kind."""
    if graded:
        return ["ndcg", "ndcg@5", "ndcg@10"]
    if grouped:
        lists = ["ndcg@10", "mrr", "hit@1", "hit@10", "precision@10", "recall@10", "pap@10"]
        return ["ap", "auc", *lists, "map@r", "r_precision"]
    cuts = [k for k in (10, 100, 1000) if k <= rows // 2] or [1]
    curves = ["ap", "auc", "opauc(max_fpr=0.05)", "tpauc(min_tpr=0.5, max_fpr=0.5)"]
    top = [f"{name}@{k}" for name in ("precision", "recall") for k in cuts]
    return [*curves, "r_precision", *top]


@dataclass(frozen=True, eq=False)
class Truth:
    """What scores are compared with: targets, and the lists and weights of the rows if any."""

    target: Floats
    groups: NDArray[np.int64] | None = None
    weight: Floats | None = None

    def part(self, rows: NDArray[np.bool_]) -> Truth:
        """Return the truth of some rows; lists without any of them are not there."""
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)
        return Truth(
            self.target[rows],
            None if groups is None else groups[1],
            None if self.weight is None else self.weight[rows],
        )

    def lists_with_value(self, *, graded: bool) -> int | None:
        """Return the number of lists that a metric is defined for; None without groups."""
        if self.groups is None:
            return None
        sizes, positive = (
            np.bincount(self.groups),
            np.bincount(self.groups, weights=self.target > 0),
        )
        return int(((positive > 0) & (graded | (positive < sizes))).sum())

    def value(self, name: str, scores: Floats) -> float:
        """Return a metric alone; lists that have no value are left out of the mean."""
        found = metric(name)
        with _quietly():
            return float(found.value(scores, self.target, groups=self.groups, weight=self.weight))

    def by_list(self, name: str, scores: Floats) -> Floats:
        """Return a metric of every list; NaN for those that have no value."""
        setting = replace(metric(name).setting, average="none")
        with _quietly():
            return np.asarray(setting(scores, self.target, None, self.groups, self.weight))

    def interval(self, name: str, scores: Floats, *, seed: int = 0) -> metrics.Interval:
        """Return a metric with its 95 % interval."""
        return self.intervals([name], scores, seed=seed)[name]

    def intervals(
        self, names: Sequence[str], scores: Floats, *, seed: int = 0
    ) -> dict[str, metrics.Interval]:
        """Return metrics with their 95 % intervals.

        Of one short list: DeLong's for the AUC, on the logit scale for average precision (except
        next to 0 and 1, where the formula's error is more than the scale can tell: of 0.999 with 35
        positives it made 0.01 to 1). Everything else as `metrics.confidence_intervals` does it: by
        the bootstrap, over lists where there are several, or by the influence function; so are
        weighted rows, which the formulas do not know.
        """
        found = {name: metric(name) for name in names}
        by_formula = {name: self._by_formula(each, scores) for name, each in found.items()}
        others = [each for name, each in found.items() if by_formula[name] is None]
        with _quietly():
            made = metrics.confidence_intervals(
                others, scores, self.target, groups=self.groups, weight=self.weight, seed=seed
            )
        rest = iter(made)
        return {name: each or next(rest) for name, each in by_formula.items()}

    def difference(
        self, name: str, scores: Floats, others: Floats, *, seed: int = 0
    ) -> metrics.Comparison:
        """Compare two scores of the same rows: DeLong's test for the AUC, else a bootstrap."""
        found = metric(name)
        if found.metric is metrics.auroc and self._has_formula(found):
            return metrics.delong_test(scores, others, self.target)
        with _quietly():
            return metrics.compare(
                found.metric,
                scores,
                others,
                self.target,
                groups=self.groups,
                weight=self.weight,
                resamples=max(200, min(1000, int(_WORK / max(1, len(self.target))))),
                seed=seed,
                **found.options,
            )

    def _by_formula(self, found: metrics.Metric, scores: Floats) -> metrics.Interval | None:
        if not self._has_formula(found) or len(self.target) > _SHORT:
            return None
        if found.metric is metrics.auroc:
            return metrics.delong_interval(scores, self.target)
        by_formula = metrics.logit_interval(scores, self.target)
        spread = by_formula.value * (1 - by_formula.value)
        # 1 over the variance on the logit scale.
        return by_formula if np.count_nonzero(self.target) * spread >= 1 else None

    def _has_formula(self, found: metrics.Metric) -> bool:
        """Return whether the variance has a formula, which needs two rows of both classes."""
        plain = self.groups is None and self.weight is None and not found.options
        positives = int(np.count_nonzero(self.target))
        enough = min(positives, len(self.target) - positives) > 1
        return plain and enough and found.metric in (metrics.auroc, metrics.average_precision)


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress the warnings about lists of one class and short ones."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "([0-9]+ of [0-9]+|some) lists have", RuntimeWarning)
        yield


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, and the p-value of its being zero."""

    mean: float
    low: float
    high: float
    p: float = math.nan

    def within(self, least: float, most: float) -> Estimate:
        """Return the estimate with its interval clipped to the range of the metric."""
        low, high = np.clip([self.low, self.high], least, most).tolist()
        return replace(self, low=low, high=high)


def corrected(values: Sequence[float], trained: int, tested: int) -> Estimate:
    """Return Student's interval and test, with the variance corrected for overlapping folds.

    Var = (1/J + n_tested/n_trained) · s², J the number of folds   (Nadeau & Bengio 2003, Eq. 9).
    A fold in which the metric has no value leaves none.
    """
    found = np.asarray(values, dtype=np.float64)
    mean = float(found.mean())
    if math.isnan(mean) or len(found) < 2:
        return Estimate(mean, math.nan, math.nan)
    error = math.sqrt((1 / len(found) + tested / trained) * found.var(ddof=1))
    reach = student.ppf(0.975, len(found) - 1) * error
    if error == 0:
        return Estimate(mean, mean, mean, float(mean == 0))
    p = 2 * student.sf(abs(mean) / error, len(found) - 1)
    return Estimate(mean, float(mean - reach), float(mean + reach), float(p))


def finite(value: float) -> float | None:
    """Return a number as JSON takes it: NaN and infinity become null."""
    return value if math.isfinite(value) else None
