"""Rows of the objectives of one operating point."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from tests.objectives.contract import Row, sides
from torch import Tensor

from rankwise.objectives.operating_point import (
    FPRAtTPR,
    PrecisionAtRecall,
    RecallAtPrecision,
    TPRAtFPR,
)
from rankwise.pairs import Logistic, Sigmoid, Surrogate

Dense = Callable[[Tensor, Tensor], Tensor]
SIGMOID = Sigmoid(5.0)


def dense_tpr(max_fpr: float, surrogate: Surrogate = SIGMOID) -> Dense:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        at = math.floor(max_fpr * len(negatives) + 1e-9)
        return surrogate.value(positives - negatives.sort(descending=True).values[at]).mean()

    return risk


def dense_false_positives(min_tpr: float, scores: Tensor, target: Tensor) -> tuple[Tensor, int]:
    positives, negatives = sides(scores, target)
    found = math.ceil(min_tpr * len(positives) - 1e-9)
    lowest = positives.sort(descending=True).values[found - 1]
    return SIGMOID.value(lowest - negatives), found


def dense_fpr(min_tpr: float) -> Dense:
    return lambda scores, target: dense_false_positives(min_tpr, scores, target)[0].mean()


def dense_precision(min_recall: float, prior: float | None = None) -> Dense:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        losses, found = dense_false_positives(min_recall, scores, target)
        if prior is None:
            return losses.sum() / (found + losses.sum())
        share = prior * found / int(target.sum())
        return (1 - prior) * losses.mean() / (share + (1 - prior) * losses.mean())

    return risk


def dense_recall(min_precision: float, prior: float | None = None) -> Dense:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        allowed = 0
        for threshold in scores.tolist():
            true, false = int((positives >= threshold).sum()), int((negatives >= threshold).sum())
            share = true / (true + false)
            if prior is not None:
                tpr, fpr = true / len(positives), false / len(negatives)
                share = prior * tpr / (prior * tpr + (1 - prior) * fpr)
            if share >= min_precision - 1e-10:
                allowed = max(allowed, false)
        if allowed == len(negatives):
            return positives.sum() * 0
        threshold = negatives.sort(descending=True).values[allowed]
        return torch.stack([SIGMOID.value(s - threshold) for s in positives]).mean()

    return risk


ROWS = [
    Row("TPRAtFPR", TPRAtFPR, dense_tpr(0.1), {"max_fpr": 0.1}, scaled=True),
    Row(
        "TPRAtFPR, logistic",
        TPRAtFPR,
        dense_tpr(0.3, Logistic(2.0)),
        {"max_fpr": 0.3, "surrogate": Logistic(2.0), "score_scale": 1.0},
    ),
    Row("FPRAtTPR", FPRAtTPR, dense_fpr(0.8), {"min_tpr": 0.8}, scaled=True),
    Row(
        "PrecisionAtRecall",
        PrecisionAtRecall,
        dense_precision(0.6),
        {"min_recall": 0.6},
        scaled=True,
    ),
    Row(
        "PrecisionAtRecall, prior",
        PrecisionAtRecall,
        dense_precision(0.6, 0.05),
        {"min_recall": 0.6, "prior": 0.05},
        scaled=True,
    ),
    Row(
        "RecallAtPrecision",
        RecallAtPrecision,
        dense_recall(0.35),
        {"min_precision": 0.35},
        scaled=True,
    ),
    Row(
        "RecallAtPrecision, prior",
        RecallAtPrecision,
        dense_recall(0.15, 0.1),
        {"min_precision": 0.15, "prior": 0.1},
        scaled=True,
    ),
]
