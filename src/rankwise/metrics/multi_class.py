"""Metrics of two classes for scores of several: a mean over the classes, with its interval."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count, require_no_nan, require_one_of, warn_caller
from rankwise.metrics._setting import setting_of
from rankwise.metrics.auc import auroc
from rankwise.metrics.bootstrap import percentiles, resample_counts
from rankwise.metrics.inputs import Array, Items, from_tensor, to_tensor
from rankwise.metrics.intervals import Comparison, Interval, normal_quantile
from rankwise.metrics.ranking import Ranking, rank_items

Scheme = Literal["ovr", "ovo"]
ClassAverage = Literal["macro", "weighted", "none"]
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
            drawn = found[0] - found[1]
            low, high = percentiles(drawn, level)
            rarer = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
            p = min(1.0, 2 * (1 + rarer) / (1 + resamples))
            return Comparison(a, b, a - b, low, high, p, level, "bootstrap")
        reach = normal_quantile(level) * found
        p = 2 * NormalDist().cdf(-abs(a - b) / found) if found > 0 else float(a == b)
        return Comparison(a, b, a - b, a - b - reach, a - b + reach, p, level, "influence")

    def _uncertain(
        self, models: Sequence[_ClassLists], resamples: int, seed: int, level: float
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

    def _lists(self, scores: object, target: object, weight: object) -> _ClassLists:
        s, t = to_tensor(scores).double().cpu(), to_tensor(target).cpu()
        if s.ndim != 2 or s.shape[1] < 2:
            raise ValueError(
                "scores must have a column for each of two or more classes, shape (rows, classes), "
                f"got {tuple(s.shape)}"
            )
        require_no_nan("scores", s)
        if t.shape != s.shape[:1] or not bool((t == t.long()).all()):
            raise ValueError(
                f"target must hold one class number per row, shape ({len(s)},), got shape "
                f"{tuple(t.shape)} of {t.dtype}"
            )
        t = t.long()
        low, high = (int(end) for end in t.aminmax()) if len(t) else (0, 0)
        if low < 0 or high >= s.shape[1]:
            raise ValueError(
                f"target must be class numbers from 0 to {s.shape[1] - 1}, one per column of "
                f"scores, got values from {low} to {high}"
            )
        w = None if weight is None else to_tensor(weight).double().cpu()
        if w is not None and (w.shape != t.shape or not bool(((w >= 0) & w.isfinite()).all())):
            raise ValueError(
                f"weight must be one finite number >= 0 per row, shape ({len(s)},), got shape "
                f"{tuple(w.shape)}"
            )
        return _ClassLists(self, s, t, torch.ones_like(t).double() if w is None else w)


@dataclass(frozen=True)
class _ClassLists:
    """One ranked list per class, of the same rows."""

    metric: ClassMetric
    scores: Tensor  # (rows, classes)
    target: Tensor  # (rows,)
    weight: Tensor  # (rows,)

    @property
    def rows(self) -> int:
        return len(self.target)

    @property
    def classes(self) -> int:
        return self.scores.shape[1]

    def rankings(self) -> Iterator[Ranking]:
        """Yield the rows ranked by the scores of one class after the other."""
        for c, column in enumerate(self.scores.T):
            hot = (self.target == c).double()
            yield rank_items(column[None].contiguous(), hot[None], ties=self.metric.setting.ties)

    @cached_property
    def kept(self) -> tuple[Ranking, ...]:
        """All rankings, for resamples in several blocks."""
        return tuple(self.rankings())

    def mean(self, counts: Tensor) -> Tensor:
        """Return the mean over classes where rows count so often, (resamples,)."""
        values, shares = self.values(counts)
        return (values.nan_to_num() * shares).sum(-1)

    def values(self, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values of the classes and their shares in the mean, (resamples, classes)."""
        rankings = self.kept if len(counts) > 1 else self.rankings()
        found = [self._value(c, r, counts) for c, r in enumerate(rankings)]
        return torch.stack(found, dim=1), self._shares(counts)

    def together(self, *, plain: bool) -> tuple[Tensor, Tensor]:
        """Return the values of the classes and their shares, (classes,), by one sort of all."""
        once = torch.ones(1, self.rows, dtype=torch.float64)
        weight = None
        if not plain or self.metric.scheme == "ovo":
            weight = torch.cat([self._weights(c, once) for c in range(self.classes)])
        hot = (self.target == torch.arange(self.classes).unsqueeze(1)).double()
        items = Items(self.scores.T.contiguous(), hot, weight=weight)
        return self.metric.setting.values(items), self._shares(once)[0]

    def _value(self, c: int, ranking: Ranking, counts: Tensor) -> Tensor:
        weights = self._weights(c, counts)
        setting = self.metric.setting
        ranked = replace(ranking, weight=weights[:, ranking.order[0]])
        return setting.kernel(ranked, **setting.options)

    def _weights(self, c: int, counts: Tensor) -> Tensor:
        """Return the weight of every row in the list of a class, (resamples, rows)."""
        weights = counts * self.weight
        if self.metric.scheme == "ovr":
            return weights
        mass = self._mass(counts)
        own = torch.where(mass > 0, mass, 1.0)[:, self.target]
        if self.metric.average != "weighted":
            return weights / own  # every class weighs 1
        share = mass / mass.sum(-1, keepdim=True)
        return weights / own * (share[:, c : c + 1] + share[:, self.target])

    def _mass(self, counts: Tensor) -> Tensor:
        weights = counts * self.weight
        empty = weights.new_zeros(len(weights), self.classes)
        return empty.index_add(1, self.target, weights)

    def _shares(self, counts: Tensor) -> Tensor:
        mass = self._mass(counts)
        # Without rows, or with all of them, a class ranks nothing.
        there = ((mass > 0) & (mass < mass.sum(-1, keepdim=True))).double()
        if self.metric.average == "weighted":
            share = mass / mass.sum(-1, keepdim=True)
            present = there.sum(-1, keepdim=True)
            # One-vs-one: Σ_{b≠a} (π_a + π_b) of the pairs that class a is in.
            there = share if self.metric.scheme == "ovr" else there * ((present - 2) * share + 1)
        return there / there.sum(-1, keepdim=True)

    def slope(self) -> Tensor:
        """Return the derivative of the mean by how often each row counts, (rows,).

        One class at a time: the graph of all of them would be in memory together.
        """
        counts = torch.ones(1, self.rows, dtype=torch.float64, requires_grad=True)
        total, values = torch.zeros(self.rows, dtype=torch.float64), []
        with torch.enable_grad():
            shares = self._shares(counts.detach())[0]
            for c, ranking in enumerate(self.rankings()):
                value = self._value(c, ranking, counts)
                values.append(value.detach().nan_to_num())
                if float(shares[c]) > 0:
                    total += shares[c] * torch.autograd.grad(value.sum(), counts)[0][0]
            if self.metric.average == "weighted":
                mean = (self._shares(counts) * torch.stack(values, dim=1)).sum()
                total += torch.autograd.grad(mean, counts)[0][0]
        return total
