"""From the three parts of a set to the scores of the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from benchmarks.tabular.sets import Parts
from scipy.stats import rankdata

from rankwise.estimators.base import Ranker
from rankwise.estimators.data import Floats, Part, Training
from rankwise.estimators.names import metric_value
from rankwise.estimators.preparation import learn_preparation

__all__ = ["Fit", "Remembered", "fitted", "joined", "mean", "together", "training", "weighted"]

Fit = Callable[[Parts, str, int], Floats]
"""(parts, the metric to stop by, seed) → scores of the last part."""


def fitted(make: Callable[[str], Ranker]) -> Fit:
    """An estimator as its ``fit`` trains it, but with the given rows held out.

    ``make`` gets the name of the metric, which is also that of the objective. An estimator with
    folds gets the rows of the first two parts.
    """

    def fit(parts: Parts, metric: str, seed: int) -> Floats:
        ranker = make(metric)
        train, valid, test = parts
        names = list(map(str, range(train.X.shape[1])))
        ranker.preparation_ = learn_preparation(
            train.X, names, train.weight, takes_missing=True, takes_categories=True
        )
        if getattr(ranker, "folds", 1) > 1:
            train = valid = joined(train, valid)
        ranker._fit_scores(training(train, valid, metric, seed))
        return np.asarray(ranker._scores(test.X), dtype=np.float64)

    return fit


def joined(*parts: Part) -> Part:
    """All rows of some parts."""
    rows, target = (np.concatenate([getattr(p, name) for p in parts]) for name in ("X", "target"))
    return Part(rows, target)


def training(train: Part, valid: Part, metric: str, seed: int) -> Training:
    prior = float(np.average(train.target > 0, weights=train.weight))
    return Training(
        train, valid, prior, seed, lambda scores, part: metric_value(metric, scores, part)
    )


def weighted(fit: Fit) -> Fit:
    """Both classes of the same weight in all."""

    def balanced(parts: Parts, metric: str, seed: int) -> Floats:
        train, *others = parts
        share = train.target.mean()
        weight = np.where(train.target > 0, (1 - share) / share, 1.0)
        return fit((replace(train, weight=weight), others[0], others[1]), metric, seed)

    return balanced


class Remembered:
    """A fit that is made once for the same parts, for those that need its scores again."""

    def __init__(self, fit: Fit) -> None:
        self.fit = fit
        self.last: tuple[Parts, str, int, Floats] | None = None

    def __call__(self, parts: Parts, metric: str, seed: int) -> Floats:
        if self.last is None or self.last[0] is not parts or self.last[1:3] != (metric, seed):
            self.last = (parts, metric, seed, self.fit(parts, metric, seed))
        return self.last[3]


def mean(*fits: Fit) -> Fit:
    """The mean of the scores."""

    def fit(parts: Parts, metric: str, seed: int) -> Floats:
        joined: Floats = np.mean([each(parts, metric, seed) for each in fits], axis=0)
        return joined

    return fit


def together(*fits: Fit) -> Fit:
    """The mean of the log-odds of the ranks, as ``rankwise compare`` joins two models."""

    def fit(parts: Parts, metric: str, seed: int) -> Floats:
        every = [rankdata(each(parts, metric, seed)) for each in fits]
        shares = [(ranks - 0.5) / len(ranks) for ranks in every]
        joined: Floats = np.mean([np.log(s / (1 - s)) for s in shares], axis=0)
        return joined

    return fit
