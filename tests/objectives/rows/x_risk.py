"""Rows of XRisk: one of each kind of inner function."""

from __future__ import annotations

from functools import partial

import torch
from tests.objectives.contract import ITEMS, Row, sides
from torch import Tensor

from rankwise.objectives import XRisk
from rankwise.pairs import Logistic, SquaredHinge


def root(g: Tensor) -> Tensor:
    return (1 + g).sqrt()


def dense(scores: Tensor, target: Tensor) -> Tensor:
    positives, negatives = sides(scores, target)
    return root(SquaredHinge(1.0).value(positives[:, None] - negatives).mean(1)).mean()


def dense_over_all(scores: Tensor, target: Tensor) -> Tensor:
    positives, _ = sides(scores, target)
    return root(Logistic(1.0).value(positives[:, None] - scores).mean(1)).mean()


def mean_and_square(anchors: Tensor, others: Tensor) -> Tensor:
    x = anchors.unsqueeze(1) - others
    return torch.stack([x.tanh().mean(1), x.sigmoid().mean(1)], dim=1)


def ratio(g: Tensor) -> Tensor:
    return g[..., 0] / (1 + g[..., 1])


def dense_of_two(scores: Tensor, target: Tensor) -> Tensor:
    return ratio(mean_and_square(*sides(scores, target))).mean()


ROWS = [
    Row("XRisk", partial(XRisk, SquaredHinge(1.0), root), dense, {"num_items": ITEMS}),
    Row("XRisk, no memory", partial(XRisk, SquaredHinge(1.0), root), dense),
    Row(
        "XRisk over all",
        partial(XRisk, Logistic(1.0), root),
        dense_over_all,
        {"num_items": ITEMS, "over": "all"},
    ),
    Row(
        "XRisk of two batches",
        partial(XRisk, mean_and_square, ratio),
        dense_of_two,
        {"num_items": ITEMS, "width": 2},
    ),
]
