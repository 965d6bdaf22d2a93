"""Rows of the AUC family. ``Exponential`` overflows on scores of ±10⁴ and has tests of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from tests.objectives.contract import PRIOR, Row, sides
from torch import Tensor

from rankwise.objectives.auc import PUAUC, CompositionalAUC, MinMaxAUC, PairwiseAUC
from rankwise.pairs import (
    BarrierHinge,
    Hinge,
    Logistic,
    OneSidedHuber,
    Sigmoid,
    Square,
    SquaredHinge,
    Surrogate,
)

START = (0.3, -0.2, 0.7)  # a, b and α of a MinMaxAUC on its way


def dense_pairs(surrogate: Surrogate) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        return surrogate.value(positives[:, None] - negatives).mean()

    return risk


def dense_pu_auc(surrogate: Surrogate, cut: bool) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        labeled, unlabeled = sides(scores, target)
        others = ~torch.eye(len(labeled), dtype=torch.bool)
        among = surrogate.value(labeled[:, None] - labeled)[others].mean()
        found = surrogate.value(labeled[:, None] - unlabeled).mean() - PRIOR * among
        return found.clamp_min(0) / (1 - PRIOR) if cut else found / (1 - PRIOR)

    return risk


def dense_compositional(hinge: bool) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        slack = 1 + negatives.mean() - positives.mean()
        variances = positives.var(unbiased=False) + negatives.var(unbiased=False)
        return variances + (slack.clamp_min(0) if hinge else slack) ** 2

    return risk


def dense_minmax(a: float, b: float, alpha: float) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        gap = 1 + negatives.mean() - positives.mean()
        squares = ((positives - a) ** 2).mean() + ((negatives - b) ** 2).mean()
        return squares + 2 * alpha * gap - alpha**2

    return risk


def on_its_way(**options: Any) -> MinMaxAUC:
    loss = MinMaxAUC(**options)
    with torch.no_grad():
        for parameter, value in zip((loss.a, loss.b, loss.alpha), START, strict=True):
            parameter.fill_(value)
    return loss


# Sigmoid tails are sums of exponentials, right to about 1e-7 each.
SURROGATES: list[tuple[Surrogate, float]] = [
    (SquaredHinge(1.0), 1e-9),
    (Hinge(0.5), 1e-9),
    (Logistic(2.0), 2e-6),
    (Sigmoid(2.0), 2e-6),
    (Square(1.0), 1e-9),
    (BarrierHinge(2.0, 1.0), 1e-9),
    (OneSidedHuber(0.3), 1e-9),
]
ROWS = [
    *(
        Row(f"PairwiseAUC, {s}", PairwiseAUC, dense_pairs(s), {"surrogate": s}, tolerance=near)
        for s, near in SURROGATES
    ),
    *(
        Row(
            f"PUAUC, {s}",
            PUAUC,
            dense_pu_auc(s, cut),
            {"prior": PRIOR, "surrogate": s},
            tolerance=near,
        )
        for s, cut, near in [
            (Sigmoid(2.0), False, 2e-6),
            (SquaredHinge(1.0), True, 1e-9),
            (Logistic(2.0), True, 2e-6),
        ]
    ),
    Row("CompositionalAUC", CompositionalAUC, dense_compositional(True), tolerance=1e-9),
    Row(
        "CompositionalAUC, square",
        CompositionalAUC,
        dense_compositional(False),
        {"f": "square"},
        tolerance=1e-9,
    ),
    Row("MinMaxAUC", MinMaxAUC, dense_minmax(0, 0, 0), shifts=False, tolerance=1e-9),
    Row(
        "MinMaxAUC, square",
        MinMaxAUC,
        dense_minmax(0, 0, 0),
        {"f": "square"},
        shifts=False,
        tolerance=1e-9,
    ),
    Row("MinMaxAUC, on its way", on_its_way, dense_minmax(*START), shifts=False),
]
