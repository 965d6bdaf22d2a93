"""A scorer of documents, fitted on lists and stopped by others."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import rankwise.estimators
from rankwise.data import DataError
from rankwise.data.letor import Letor
from rankwise.estimators import Ranker
from rankwise.estimators.data import Part, Training
from rankwise.estimators.names import entry_of, is_graded, value
from rankwise.naming import metric as named_metric
from rankwise.tasks.usage import UsageError

__all__ = ["MODELS", "Settings", "fitted"]

MODELS = {"linear": "LinearRanker", "mlp": "NeuralRanker", "boosted": "BoostedRanker"}
_TAKEN = ("objective", "metric", "validation_fraction", "random_state", "threshold", "calibration")


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result, beside the data."""

    objective: str = "ndcg@10"
    model: str = "mlp"
    metric: str = "ndcg@10"  # of validation: when to stop
    relevant: float = 1.0  # relevance from which a document counts for objectives of two classes
    validation: float = 0.2  # share of the queries, where there is no validation file
    options: Mapping[str, Any] = field(default_factory=dict)  # of the estimator
    seed: int = 0

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise UsageError(f"model must be one of {', '.join(MODELS)}, got {self.model!r}")
        if not 0 <= self.validation < 1:
            raise UsageError(f"validation must be a share in [0, 1), got {self.validation!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise UsageError(f"seed must be a whole number >= 0, got {self.seed!r}")
        known = [name for name in self.ranker_class().get_params() if name not in _TAKEN]
        for name in self.options:
            if name not in known:
                raise UsageError(
                    f"{self.model} has no option {name!r}; it has {', '.join(sorted(known))}"
                )
        try:
            entry_of(self.objective)
            named_metric(self.metric)
        except ValueError as error:
            raise UsageError(str(error)) from None

    def ranker_class(self) -> Ranker:
        """The estimator with its defaults."""
        made: Ranker = getattr(rankwise.estimators, MODELS[self.model])()
        return made

    def ranker(self) -> Ranker:
        """The estimator, not yet fitted."""
        made: Ranker = self.ranker_class().set_params(
            objective=self.objective,
            metric=self.metric,
            validation_fraction=self.validation,
            random_state=self.seed,
            **self.options,
        )
        return made

    def target(self, data: Letor) -> NDArray[np.float64]:
        """Relevances, or two classes where the objective knows no more."""
        if is_graded(self.objective):
            return data.target
        return (data.target >= self.relevant).astype(np.float64)


def fitted(settings: Settings, train: Letor, validation: Letor | None = None) -> Ranker:
    """Fit on the lists of one file, stop by those of another (else by a share of the first)."""
    parts = [train] if validation is None else [train, validation]
    width = max(part.width for part in parts)
    target = np.concatenate([settings.target(part) for part in parts])
    for part in parts:
        own = settings.target(part)
        if not own.any() or (own == own[0]).all():
            raise DataError(f"{part.path}: all documents are of one relevance; nothing to rank")
    groups = [part.groups + 10**9 * number for number, part in enumerate(parts)]
    rows = _stacked([part.columns(width) for part in parts])
    ranker = settings.ranker()
    if validation is not None:
        _hold_out(ranker, len(train), settings.metric)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a poor fit shows in its validation
            ranker.fit(rows, target, groups=np.concatenate(groups))
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        ranker.__dict__.pop("_training", None)
    return ranker


def _hold_out(ranker: Ranker, first: int, metric: str) -> None:
    """Make a ranker learn from the first rows, and be judged by all the others.

    A ranker draws the lists it holds out itself; here they are known.
    """

    def training(part: Part) -> Training:
        held = np.arange(len(part)) >= first
        ranker.prior_ = float((part.target > 0).mean())
        ranker.held_out_ = int(held.sum())
        return Training(
            part.rows(~held),
            part.rows(held),
            ranker.prior_,
            int(ranker.random_state),
            lambda scores, judged: value(metric, scores, judged),
        )

    ranker.__dict__["_training"] = training


def _stacked(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)
