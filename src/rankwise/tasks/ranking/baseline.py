"""The best single feature: what a ranker must beat to be worth its training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.letor import Letor
from rankwise.tasks.ranking.evaluate import evaluate_lists

_DOCUMENTS = 50_000  # of the training queries that choose the feature
_FEATURES = 500  # tried at most; of more, those that the most documents have


@dataclass(frozen=True)
class SingleFeature:
    """Order documents by one feature.

    Args:
        number: Number of the feature in the file.
        descending: Whether large values come first.
    """

    number: int
    descending: bool

    def __str__(self) -> str:
        return f"feature {self.number}, {'largest' if self.descending else 'smallest'} first"

    def scores(self, data: Letor) -> NDArray[np.float64]:
        """The scores of the documents; a feature that a file lacks is 0."""
        sign = 1.0 if self.descending else -1.0
        if self.number >= data.width:
            return np.zeros(len(data))
        return sign * _dense(data.features[:, [self.number]])[:, 0]


def best_feature(train: Letor, metric: str, *, relevant: float = 1) -> SingleFeature:
    """Return the feature and direction whose order has the highest mean of a metric in training.

    On more than 50,000 documents, evenly spaced queries choose. Of more than 500 features, those
    are tried that the most documents have.

    Args:
        train: Training lists.
        metric: Name of the metric.
        relevant: Smallest relevance of a positive, for metrics of two classes.

    Returns:
        The feature; the first of those that are level.
    """
    sample = _some_queries(train)
    best, chosen = -np.inf, SingleFeature(0, descending=True)
    for number in _frequent(sample):
        for descending in (True, False):
            feature = SingleFeature(number, descending)
            scores = feature.scores(sample)
            value = evaluate_lists(scores, sample, [metric], relevant=relevant)[metric].mean
            if value > best:
                best, chosen = value, feature
    return chosen


def _some_queries(data: Letor) -> Letor:
    """Return evenly spaced queries with about as many documents as choose a feature."""
    if len(data) <= _DOCUMENTS:
        return data
    step = -(-len(data) // _DOCUMENTS)
    rows = np.flatnonzero(data.groups % step == 0)
    return replace(
        data,
        features=data.features[rows],
        target=data.target[rows],
        groups=data.groups[rows] // step,
        queries=data.queries[::step],
        documents=None,
    )


def _frequent(data: Letor) -> Sequence[int]:
    """Return the features that vary, at most as many as are tried, in the order of the file."""
    features: Any = data.features
    present = np.asarray((features != 0).sum(axis=0)).ravel()
    most = np.argsort(-present, kind="stable")[:_FEATURES]
    found: list[int] = np.sort(most[present[most] > 0]).tolist()
    return found


def _dense(features: Any) -> NDArray[np.float64]:
    plain = features.toarray() if sparse.issparse(features) else features
    return np.asarray(plain, dtype=np.float64)
