"""A scorer of documents, fitted on lists and stopped by others."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.letor import Letor
from rankwise.errors import UsageError
from rankwise.estimators import Ranker
from rankwise.estimators.names import is_graded
from rankwise.naming import metric
from rankwise.tasks.ranking.evaluate import require_gains
from rankwise.tasks.ranking.settings import Settings


def stops_by(settings: Settings, *parts: Letor) -> str:
    """Return the metric of validation as training sees it, in words.

    An objective of two classes turns relevances into two classes, for the metric as well.
    """
    graded = any(len(np.unique(part.target)) > 2 for part in parts)
    if not graded or not _is_graded_metric(settings.metric) or is_graded(settings.objective):
        return settings.metric
    return f"{settings.metric} of two classes (relevant from {settings.relevant:g} on)"


def _is_graded_metric(name: str) -> bool:
    return metric(name).setting.kernel.graded


def _target(settings: Settings, data: Letor) -> NDArray[np.float64]:
    """Return relevances, or two classes where the objective knows no more."""
    if is_graded(settings.objective):
        return data.target
    return (data.target >= settings.relevant).astype(np.float64)


def fitted(
    settings: Settings,
    train: Letor,
    validation: Letor | None = None,
    *,
    checkpoint: Path | None = None,
) -> Ranker:
    """Fit on the lists of one file, stop by those of another (else by a share of the first).

    With ``checkpoint`` the training writes its state there, and resumes from it.
    """
    parts = [train] if validation is None else [train, validation]
    width = max(part.width for part in parts)
    if is_graded(settings.objective):
        for part in parts:
            require_gains(part, settings.gains())
            if not _is_graded_metric(settings.metric) and len(np.unique(part.target)) > 2:
                raise UsageError(
                    f"metric {settings.metric} stops training by two classes, but the objective "
                    f"{settings.objective} trains on the relevances of {part.path}; pass a metric "
                    "of relevances, such as ndcg@10 (--metrics still reports any metric)"
                )
    targets = [_target(settings, part) for part in parts]
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
