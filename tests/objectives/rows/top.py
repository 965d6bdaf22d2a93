"""Rows of the objectives for the top of the list."""

from __future__ import annotations

from collections.abc import Callable

import torch
from tests.objectives.contract import Row, sides
from torch import Tensor

from rankwise.objectives.top import PApAtK, PrecisionAtK, RecallAtK, TopPush
from rankwise.pairs import Logistic, SquaredHinge, Surrogate


def downwards(scores: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    positives, negatives = sides(scores, target)
    return positives.sort(descending=True).values, negatives.sort(descending=True).values


def dense_pap(surrogate: str, k: int) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = downwards(scores, target)
        negatives, beta = negatives[:k], min(k, len(positives))
        if surrogate == "avg":
            return (1 - positives.mean() + negatives).clamp_min(0).mean()
        chosen = positives[-beta:] if surrogate == "max" else positives[:beta]
        total = (1 - chosen[:, None] + negatives).clamp_min(0).sum()
        if surrogate == "soft":
            total = torch.sigmoid((negatives - chosen[:, None]) / 0.3).sum()
        if surrogate == "ts":
            total = total + (negatives - positives[beta:, None]).clamp_min(0).sum()
        return total / (beta * len(negatives))

    return risk


def dense_equation_14(k: int) -> Callable[[Tensor, Tensor], Tensor]:
    """Eq. 14: below each negative the best suffix of the positives, those after β without a 1."""

    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = downwards(scores, target)
        negatives, beta = negatives[:k], min(k, len(positives))
        margin = (torch.arange(len(positives)) < beta).double()
        cost = margin + negatives[:, None] - positives
        suffixes = torch.nn.functional.pad(cost.flip(1).cumsum(1), (1, 0))
        return suffixes.amax(1).sum() / (beta * len(negatives))

    return risk


def dense_precision(surrogate: str, k: int) -> Callable[[Tensor, Tensor], Tensor]:
    """The highest negatives against the lowest of the positives that they displace."""

    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = downwards(scores, target)
        cut, n = min(k, len(positives)), len(positives)
        negatives = negatives[:cut]
        if surrogate == "avg":
            values = [positives.sum() * 0]
            for m in range(1, len(negatives) + 1):
                low = positives[cut - m :]
                assert len(low) == n - cut + m
                values.append(m * (1 + negatives[:m].mean() - low.mean()))
            return torch.stack(values).max() / cut
        rivals = positives.flip(0) if surrogate == "max" else positives[:cut].flip(0)
        paired = rivals[: len(negatives)]
        return (1 + negatives - paired).clamp_min(0).sum() / cut

    return risk


def dense_soft_share(scores: Tensor, k: int, temperature: float) -> Tensor:
    """σ((s − λ)/T), λ by halving; a step of Newton's at the end has the gradient of the root."""
    if k >= len(scores):
        return torch.ones_like(scores)
    low, high = scores.detach().min() - 1e3, scores.detach().max() + 1e3
    for _ in range(200):
        middle = (low + high) / 2
        many = torch.sigmoid((scores.detach() - middle) / temperature).sum() > k
        low, high = (middle, high) if many else (low, middle)
    share = torch.sigmoid((scores - low) / temperature)
    slope = (share * (1 - share)).sum()
    if float(slope.detach()) == 0:  # scores so far apart that each is in or out
        return share
    level = low + temperature * (share.sum() - k) / slope
    return torch.sigmoid((scores - level) / temperature)


def dense_soft_precision(k: int, temperature: float) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        cut = min(k, int(target.sum()))
        return 1 - dense_soft_share(scores, cut, temperature)[target > 0].sum() / cut

    return risk


def dense_recall(ks: tuple[int, ...], tau_k: float, tau: float) -> Callable[..., Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        n = len(positives)
        among = torch.sigmoid((positives - positives[:, None]) / tau) * (1 - torch.eye(n))
        above = among.sum(1) + torch.sigmoid((negatives - positives[:, None]) / tau).sum(1)
        recalls = [
            (torch.sigmoid((k - 1 - above) / tau_k).sum() / min(k, n)).clamp_max(1) for k in ks
        ]
        return 1 - torch.stack(recalls).mean()

    return risk


def dense_push(surrogate: Surrogate) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        return surrogate.value(positives - negatives.max()).mean()

    return risk


ROWS = [
    *(
        Row(f"PApAtK, {name}", PApAtK, dense_pap(name, 6), {"k": 6, "form": name}, scaled=True)
        for name in ("avg", "max", "ts", "ramp")
    ),
    Row(
        "PApAtK, ts_eq14",
        PApAtK,
        dense_equation_14(6),
        {"k": 6, "form": "ts_eq14"},
        scaled=True,
    ),
    Row(
        "PApAtK, soft",
        PApAtK,
        dense_pap("soft", 6),
        {"k": 6, "form": "soft", "temperature": 0.3},
        scaled=True,
    ),
    *(
        Row(
            f"PrecisionAtK, {name}",
            PrecisionAtK,
            dense_precision(name, 5),
            {"k": 5, "form": name},
            scaled=True,
        )
        for name in ("avg", "ramp", "max")
    ),
    Row(
        "PrecisionAtK, soft",
        PrecisionAtK,
        dense_soft_precision(5, 0.3),
        {"k": 5, "form": "soft", "temperature": 0.3},
        scaled=True,
    ),
    Row("RecallAtK", RecallAtK, dense_recall((3,), 1.0, 0.1), {"k": 3, "tau": 0.1}),
    Row(
        "RecallAtK, several",
        RecallAtK,
        dense_recall((1, 2, 8), 0.5, 0.5),
        {"k": (1, 2, 8), "tau_k": 0.5, "tau": 0.5},
    ),
    Row("TopPush", TopPush, dense_push(SquaredHinge(1.0))),
    Row("TopPush, logistic", TopPush, dense_push(Logistic(2.0)), {"surrogate": Logistic(2.0)}),
]
