"""Metrics of two classes for scores of several: a mean over the classes, with its interval."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count, require_one_of, warn_caller
from rankwise.metrics._class_lists import ClassAverage, ClassLists, Scheme, read_classes
from rankwise.metrics._setting import setting_of
from rankwise.metrics.auc import auroc
from rankwise.metrics.bootstrap import compare_draws, percentiles, resample_counts
from rankwise.metrics.inputs import Array, from_tensor
from rankwise.metrics.intervals import Comparison, Interval, normal_quantile

_WORK = 50_000_000  # resampled scores of one interval: a few seconds


class ClassMetric:
    """A metric of two classes for scores of several: every class ranks all rows.

    ``"ovr"`` (one-vs-rest) ranks the rows of a class above all others by the scores of the class,
    and averages over the classes. ``"ovo"`` (one-vs-one, for :func:`auroc` alone) is the measure of
    Hand and Till: A(a|b) is the AUROC of the rows of class a against those of class b by the scores
    of a, and every pair of classes counts the same::

        M = 1/(C(C − 1)) Σ_{a≠b} A(a|b)

    The values are those of scikit-learn: ``average_precision_score(average=…)`` and
    ``roc_auc_score(multi_class=…, average=…)``. A class without rows has no value: it is left out
    of the mean, with a warning.

    Args:
        metric: Function of :mod:`rankwise.metrics` of two classes, such as
            :func:`average_precision`.
        scheme: ``"ovr"`` or ``"ovo"``.
        average: ``"macro"``: every class (pair of classes) counts the same; ``"weighted"``: by its
            share of the rows; ``"none"``: one value per class.
        **options: Options of the metric, such as ``max_fpr=0.1``.

    Example:
        >>> import numpy as np
        >>> from rankwise.metrics import ClassMetric, auroc
        >>> scores = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0], [2.0, 0.0, 1.5], [1.0, 1.5, 3.0]])
        >>> target = np.array([0, 1, 2, 2])
        >>> float(ClassMetric(auroc).value(scores, target))
        1.0
        >>> ClassMetric(auroc, scheme="ovo", average="none").value(scores, target)
        array([1., 1., 1.])

    Reference:
        Hand and Till 2001, "A Simple Generalisation of the Area Under the ROC Curve for Multiple
        Class Classification Problems", Eq. 7.
    """

    def __init__(
        self,
        metric: Callable[..., object],
        *,
        scheme: Scheme = "ovr",
        average: ClassAverage = "macro",
        **options: object,
    ) -> None:
        require_one_of("scheme", scheme, ("ovr", "ovo"))
        require_one_of("average", average, ("macro", "weighted", "none"))
        self.metric, self.scheme, self.average, self.options = metric, scheme, average, options
        self.setting = setting_of(metric, {**options, "average": "none"})
        if scheme == "ovo" and metric is not auroc:
            raise ValueError(
                f"scheme='ovo' is for auroc, got {metric.__name__}; use scheme='ovr', each class "
                "against the rest"
            )
        kernel = self.setting.kernel
        if kernel.graded or kernel.unlabeled:
            raise ValueError(
                f"metric must be one of two classes, such as average_precision, got "
                f"{metric.__name__}"
            )
        self.higher_is_better = kernel.higher_is_better

    def __repr__(self) -> str:
        """Return the metric with its options, as :func:`rankwise.naming.class_metric` reads it."""
        parameters = inspect.signature(type(self).__init__).parameters
        own = {name: getattr(self, name) for name in ("scheme", "average")}
        given = {name: v for name, v in own.items() if v != parameters[name].default}
        listed = ", ".join(f"{name}={value!r}" for name, value in (self.options | given).items())
        name = self.setting.kernel.name or self.metric.__name__
        return f"{name}({listed})" if listed else name

    def value(self, scores: Array, target: Array, *, weight: Array | None = None) -> Array:
        """Compute the metric.

        Args:
            scores: Scores of every row for every class, higher for its own rows.
            target: Number of the class of every row, from 0.
            weight: How often a row counts.

        Shape:
            scores (n, C) and target (n,) to one number; (C,) with ``average="none"``.

        Returns:
            The value.
        """
        lists = self._lists(scores, target, weight)
        values, shares = lists.together(plain=weight is None)
        if absent := int(values.isnan().sum()):
            warn_caller(f"{absent} of {len(values)} classes have no rows and are left out")
        found = values if self.average == "none" else (values.nan_to_num() * shares).sum()
        return from_tensor(found, scores)

    def interval(
        self,
        scores: Array,
        target: Array,
        *,
        weight: Array | None = None,
        level: float = 0.95,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Interval:
        """Compute the metric with its confidence interval over rows.

        The rows of every class are drawn with replacement, each row with all its scores. Above
        5·10⁷ drawn scores the interval is the value ± z standard errors of the infinitesimal
        jackknife, ``"influence"``.

        Args:
            scores, target, weight: See :meth:`value`.
            level: Confidence level.
            resamples: Number of resamples.
            seed: Seed of the resamples.

        Returns:
            The value with its interval.
        """
        lists = self._lists(scores, target, weight)
        (value,), found = self._uncertain([lists], resamples, seed, level)
        if isinstance(found, Tensor):
            low, high = percentiles(found[0], level)
            return Interval(value, low, high, level, "bootstrap")
        reach = normal_quantile(level) * found
        least = self.setting.kernel.least
        return Interval(
            value, max(least, value - reach), min(1.0, value + reach), level, "influence"
        )

    def compare(
        self,
        scores_a: Array,
        scores_b: Array,
        target: Array,
        *,
        weight: Array | None = None,
        level: float = 0.95,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Comparison:
        """Compare the scores of two models for the same rows, on the same resamples.

        The p-value is that of :func:`compare`, or of the normal distribution where the interval is
        that of the jackknife.

        Args:
            scores_a, scores_b: Scores (n, C) of the two models.
            target, weight: See :meth:`value`.
            level: Confidence level.
            resamples: Number of resamples.
            seed: Seed of the resamples.

        Returns:
            Both values, their difference, its interval and its p-value.
        """
        both = [self._lists(scores, target, weight) for scores in (scores_a, scores_b)]
        (a, b), found = self._uncertain(both, resamples, seed, level)
        if isinstance(found, Tensor):
            return compare_draws(a, b, found, level)
        reach = normal_quantile(level) * found
        p = 2 * NormalDist().cdf(-abs(a - b) / found) if found > 0 else float(a == b)
        return Comparison(a, b, a - b, a - b - reach, a - b + reach, p, level, "influence")

    def _uncertain(
        self, models: Sequence[ClassLists], resamples: int, seed: int, level: float
    ) -> tuple[list[float], Tensor | float]:
        """Return the values of models, and their resamples (models, resamples).

        In place of the resamples, where these would be too many, the standard error of the value,
        or of the difference of two.
        """
        normal_quantile(level)
        require_count("resamples", resamples)
        if self.average == "none":
            raise ValueError("average must name a mean: an interval is about one number")
        first = models[0]
        one = torch.ones(1, first.rows, dtype=torch.float64)
        values = [float(lists.mean(one)[0]) for lists in models]
        classes = [torch.nonzero(first.target == c).squeeze(1) for c in range(first.classes)]
        strata = [rows for rows in classes if len(rows)]
        if first.rows * first.classes * resamples > _WORK and self.setting.kernel.smooth:
            slope = models[0].slope() - (models[1].slope() if len(models) > 1 else 0.0)
            several = [slope[rows] for rows in strata if len(rows) > 1]
            return values, math.sqrt(sum(len(part) * float(part.var()) for part in several))
        rng = np.random.default_rng(seed)
        drawn = resample_counts(strata, resamples, rng)
        rows = [torch.stack([lists.mean(c.double()) for lists in models]) for c in drawn]
        return values, torch.cat(rows, dim=1)

    def _lists(self, scores: object, target: object, weight: object) -> ClassLists:
        read = read_classes(scores, target, weight)
        return ClassLists(self.setting, self.scheme, self.average, *read)
