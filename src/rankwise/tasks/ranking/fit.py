"""A scorer of documents, fitted on lists and stopped by others."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankwise.estimators
from rankwise.data import DataError
from rankwise.data.letor import Letor
from rankwise.errors import UsageError
from rankwise.estimators import Ranker
from rankwise.estimators.names import is_graded, is_log_loss
from rankwise.estimators.names import make_objective as named_objective
from rankwise.naming import canonical_metric, canonical_objective
from rankwise.naming import metric as named_metric
from rankwise.tasks.ranking.evaluate import require_gains, require_relevant

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
        require_relevant(self.relevant)
        try:
            self.gains()
        except ValueError as error:
            raise UsageError(str(error)) from None
        object.__setattr__(self, "metric", canonical_metric(self.metric))
        if not is_log_loss(self.objective):
            object.__setattr__(self, "objective", canonical_objective(self.objective))

    @property
    def metric_is_graded(self) -> bool:
        """Whether the metric of validation takes relevances rather than two classes."""
        return named_metric(self.metric).setting.kernel.graded

    def stops_by(self, *parts: Letor) -> str:
        """The metric of validation as training sees it, in words.

        An objective of two classes turns relevances into two classes, for the metric as well.
        """
        graded = any(len(np.unique(part.target)) > 2 for part in parts)
        if not graded or not self.metric_is_graded or is_graded(self.objective):
            return self.metric
        return f"{self.metric} of two classes (relevant from {self.relevant:g} on)"

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

    def gains(self) -> dict[str, object]:
        """The gain of the objective and of the metric, None of those that have none."""
        # Of data unknown as yet any numbers will do: this is for the options of the name.
        objective = named_objective(self.objective, prior=0.5, num_items=1, num_lists=1)
        metric = named_metric(self.metric)
        return {
            self.objective: getattr(objective, "gain", None),
            self.metric: metric.setting.options.get("gain"),
        }

    def target(self, data: Letor) -> NDArray[np.float64]:
        """Relevances, or two classes where the objective knows no more."""
        if is_graded(self.objective):
            return data.target
        return (data.target >= self.relevant).astype(np.float64)


def fitted(
    settings: Settings,
    train: Letor,
    validation: Letor | None = None,
    *,
    checkpoint: Path | None = None,
) -> Ranker:
    """Fit on the lists of one file, stop by those of another (else by a share of the first).

    With ``checkpoint`` the training leaves there what it has reached, and goes on from it.
    """
    parts = [train] if validation is None else [train, validation]
    width = max(part.width for part in parts)
    if is_graded(settings.objective):
        for part in parts:
            require_gains(part, settings.gains())
            if not settings.metric_is_graded and len(np.unique(part.target)) > 2:
                raise UsageError(
                    f"metric {settings.metric} stops training by two classes, but the objective "
                    f"{settings.objective} trains on the relevances of {part.path}; pass a metric "
                    "of relevances, such as ndcg@10 (--metrics still reports any metric)"
                )
    targets = [settings.target(part) for part in parts]
    for part, own in zip(parts, targets, strict=True):
        if not own.any() or (own == own[0]).all():
            raise DataError(f"{part.path}: all documents are of one relevance; nothing to rank")
    ranker = settings.ranker()
    held_out = None
    if validation is not None:
        held_out = (validation.columns(width), targets[1], validation.groups)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a poor fit shows in its validation
            ranker.fit(
                train.columns(width),
                targets[0],
                groups=train.groups,
                validation=held_out,
                checkpoint=checkpoint,
            )
    except ValueError as error:
        raise UsageError(str(error)) from None
    return ranker
