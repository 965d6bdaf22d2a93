"""Rows of the average precision family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from tests.objectives.contract import ITEMS, PRIOR, Row, sides
from torch import Tensor
from torch.nn.functional import softplus

from rankwise.memory import interpolate_quantiles
from rankwise.objectives import (
    SOAP,
    SOPRC,
    AveragePrecision,
    HierarchicalAP,
    PUAveragePrecision,
    StableAP,
)
from rankwise.pairs import OneSidedHuber, OneSidedSigmoid, Sigmoid, SquaredHinge, Surrogate

HUBER = OneSidedHuber(0.3)


def gain(prior: float, ratio: Tensor, annealed: bool) -> float:
    full = (1 - prior) / prior
    median = float(ratio.detach().median())
    return min(full, 1 / median) if annealed and median > 0 else full


def dense_ap(
    annealed: bool, own_prior: bool = False, power: float = 1.0
) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        prior = len(positives) / len(scores) if own_prior else PRIOR
        above = OneSidedHuber(0.3).value(positives[:, None] - negatives).mean(1)
        found = (1 + OneSidedSigmoid(0.01).value(positives[:, None] - positives).sum(1)) / len(
            positives
        )
        ratio = above / found.detach()
        x = gain(prior, ratio, annealed) * ratio
        if power == 0:
            return (1 + x).log().mean()
        return ((1 - (1 + x) ** -power) / power).mean()

    return risk


def dense_ap_at_k(k: int, softness: float | None = None) -> Callable[[Tensor, Tensor], Tensor]:
    """1 for positives below the first k, by the cut of the whole list, hard or by a sigmoid."""

    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        above = OneSidedHuber(0.3).value(positives[:, None] - negatives).mean(1)
        found = 1 + OneSidedSigmoid(0.01).value(positives[:, None] - positives).sum(1)
        x = (1 - PRIOR) / PRIOR * above / (found.detach() / len(positives))
        return (1 - share_in_first(k, scores, positives, softness) / (1 + x)).mean()

    return risk


def share_in_first(k: int, scores: Tensor, positives: Tensor, softness: float | None) -> Tensor:
    if softness is None:  # tied items share the ranks that they take together
        above = (scores > positives[:, None]).sum(1)
        tied = (scores == positives[:, None]).sum(1)
        return ((k - above) / tied).clamp(0, 1)
    low, high = scores.detach().min() - 100, scores.detach().max() + 100
    for _ in range(200):
        middle = (low + high) / 2
        many = ((scores.detach() - middle) / softness).sigmoid().sum() > k
        low, high = (middle, high) if many else (low, middle)
    apart = ((scores.detach() - low) / softness).sigmoid()
    near = apart * (1 - apart) / (apart * (1 - apart)).sum()
    level = low + (near * (scores - scores.detach())).sum()
    return ((positives - level) / softness).sigmoid()


def dense_log_precision(power: float) -> Callable[[Tensor, Tensor], Tensor]:
    """−log precision by exponentials, with the exact rank among the positives."""

    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        # As at a threshold: all positives from the score of one on count, those tied with it, too.
        found = (positives >= positives[:, None]).sum(1)
        log_x = (negatives - positives[:, None]).logsumexp(1) - found.log()
        return (softplus(log_x) if power == 0 else log_x.sigmoid()).mean()

    return risk


def dense_pu_ap(
    annealed: bool, population: float = PRIOR, surrogate: Surrogate = HUBER
) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        labeled, unlabeled = sides(scores, target)
        others = ~torch.eye(len(labeled), dtype=torch.bool)
        hidden = (surrogate.value(labeled[:, None] - labeled) * others).sum(1) / others.sum(1)
        above = surrogate.value(labeled[:, None] - unlabeled).mean(1)
        wrong = ((above - PRIOR * hidden) / (1 - PRIOR)).clamp_min(0)
        found = OneSidedSigmoid(0.01).value(labeled[:, None] - labeled).sum(1)
        ratio = wrong / ((1 + found.detach()) / len(labeled))
        x = gain(population, ratio, annealed) * ratio
        return (x / (1 + x)).mean()

    return risk


def dense_hierarchical(
    annealed: bool, power: float = 1.0, apart: float = 0.0
) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        y = target.double()
        relevant = y > 0
        wrong, right = [], []
        for k in relevant.nonzero().flatten().tolist():
            cost = (y[k] - y).clamp_min(0)
            wrong.append((cost * OneSidedHuber(0.3).value(scores[k] - scores)).sum())
            right.append((y.clamp_max(y[k]) * (scores >= scores[k])).sum())
        odds = torch.stack(wrong) / torch.stack(right).detach()
        x = gain(0.5, odds, annealed) * odds
        error = (1 + x).log() if power == 0 else x / (1 + x)
        loss = (y[relevant] * error).sum() / y.sum()
        low = (0.9 - scores[y == y.max()]).clamp_min(0).mean()
        high = (scores[~relevant] - 0.6).clamp_min(0).mean()
        return (1 - apart) * loss + apart * (low + high) if apart else loss

    return risk


def dense_soprc(
    annealed: bool, variance: tuple[float, float] = (0.0, 0.0)
) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        vector = interpolate_quantiles(
            positives.detach()[None], torch.ones_like(positives)[None], 100
        ).float()[0]
        above = OneSidedHuber(0.3).value(positives[:, None] - negatives).mean(1)
        found = (1 + OneSidedSigmoid(0.01).value(positives[:, None] - vector).sum(1)) / 101
        ratio = above / found.detach()
        x = gain(PRIOR, ratio, annealed) * ratio
        low = (positives - positives.mean()).clamp_max(0)
        high = (negatives - negatives.mean()).clamp_min(0)
        spread = variance[0] * (low**2).mean() + variance[1] * (high**2).mean()
        return (x / (1 + x)).mean() + spread

    return risk


def dense_stable(annealed: bool, squash: bool = False) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores.sigmoid() if squash else scores, target)
        huber = OneSidedHuber(0.1)
        largest = 1 + 2 * (1.0 if squash else 2.0) / 0.1
        r = (huber.value(positives - positives.mean()) / largest).clamp(0, 1).detach()
        weight = (1.1 / (r + 0.1)) ** 2
        if annealed:
            weight = weight / weight.mean()
        errors = weight * huber.value(positives[:, None] - negatives).mean(1)
        x = gain(PRIOR, errors, annealed) * errors.mean()
        return (0.01 + x / (1 + x)).sqrt()

    return risk


def dense_soap(scores: Tensor, target: Tensor) -> Tensor:
    positives, negatives = sides(scores, target)
    loss = SquaredHinge(1.0)
    right = PRIOR * loss.value(positives[:, None] - positives).mean(1)
    everything = right + (1 - PRIOR) * loss.value(positives[:, None] - negatives).mean(1)
    return (1 - right / everything).mean()


scaled = partial(Row, scaled=True)
FIXED = {"gain": "fixed"}
EXACT = {"false_positives": "exponential", "true_positives": "zero_one", **FIXED}
ROWS = [
    Row("HierarchicalAP", HierarchicalAP, dense_hierarchical(True), scaled=True, graded=True),
    Row(
        "HierarchicalAP, fixed gain",
        HierarchicalAP,
        dense_hierarchical(False),
        {"gain": "fixed"},
        scaled=True,
        graded=True,
    ),
    Row(
        "HierarchicalAP, log",
        HierarchicalAP,
        dense_hierarchical(False, power=0),
        {"gain": "fixed", "outer": "log"},
        scaled=True,
        graded=True,
    ),
    Row(
        "HierarchicalAP, decomposability",
        HierarchicalAP,
        dense_hierarchical(True, apart=0.3),
        {"decomposability": 0.3, "score_scale": 1.0},
        shifts=False,
        graded=True,
    ),
    scaled("AveragePrecision", AveragePrecision, dense_ap(True), {"prior": PRIOR}),
    scaled("AveragePrecision, fixed", AveragePrecision, dense_ap(False), {"prior": PRIOR, **FIXED}),
    scaled("AveragePrecision, own prior", AveragePrecision, dense_ap(True, own_prior=True)),
    scaled(
        "AveragePrecision, k",
        AveragePrecision,
        dense_ap_at_k(5),
        {"prior": PRIOR, "k": 5, **FIXED},
    ),
    scaled(
        "AveragePrecision, soft k",
        AveragePrecision,
        dense_ap_at_k(5, softness=0.3),
        {"prior": PRIOR, "k": 5, "softness": 0.3, **FIXED},
    ),
    scaled(
        "AveragePrecision, log",
        AveragePrecision,
        dense_ap(True, power=0.0),
        {"prior": PRIOR, "outer": "log"},
    ),
    scaled(
        "AveragePrecision, power",
        AveragePrecision,
        dense_ap(False, power=0.5),
        {"prior": PRIOR, "outer": 0.5, **FIXED},
    ),
    scaled("−log precision", AveragePrecision, dense_log_precision(0), {"outer": "log", **EXACT}),
    scaled("exponentials", AveragePrecision, dense_log_precision(1), EXACT),
    scaled("SOPRC", SOPRC, dense_soprc(True), {"prior": PRIOR}),
    scaled("SOPRC, fixed", SOPRC, dense_soprc(False), {"prior": PRIOR, **FIXED}),
    scaled(
        "SOPRC, semi-variance",
        SOPRC,
        dense_soprc(True, (1.0, 5.0)),
        {"prior": PRIOR, "semi_variance": (1.0, 5.0)},
    ),
    scaled("SOPRC, without v", SOPRC, dense_ap(True), {"prior": PRIOR, "points": None}),
    scaled("StableAP", StableAP, dense_stable(True), {"prior": PRIOR}),
    scaled("StableAP, fixed", StableAP, dense_stable(False), {"prior": PRIOR, **FIXED}),
    scaled(
        "StableAP, squashed",
        StableAP,
        dense_stable(True, True),
        {"prior": PRIOR, "squash": True},
        shifts=False,
    ),
    scaled(
        "StableAP, batch mean", StableAP, dense_stable(True), {"prior": PRIOR, "dynamic": False}
    ),
    scaled("PUAveragePrecision", PUAveragePrecision, dense_pu_ap(True), {"prior": PRIOR}),
    scaled(
        "PUAveragePrecision, population",
        PUAveragePrecision,
        dense_pu_ap(False, 0.3),
        {"prior": PRIOR, "population_prior": 0.3, **FIXED},
    ),
    scaled(
        "PUAveragePrecision, sigmoid",
        PUAveragePrecision,
        dense_pu_ap(False, surrogate=Sigmoid(3.0)),
        {"prior": PRIOR, "false_positives": Sigmoid(3.0), **FIXED},
    ),
    scaled("SOAP", SOAP, dense_soap, {"prior": PRIOR, "num_items": ITEMS}),
]
