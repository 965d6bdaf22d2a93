"""Rows of what takes relevances: NDCG, the listwise losses and their baselines."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from tests.objectives.contract import ITEMS, Row
from tests.objectives.rows.top import dense_soft_share
from torch import Tensor

from rankwise.baselines.listwise import ApproxNDCG, LambdaLoss, ListMLE
from rankwise.objectives.listwise import ListNet
from rankwise.objectives.ndcg import NDCG
from rankwise.pairs import Exponential, Logistic, OneSidedHuber, Sigmoid, SquaredHinge, Surrogate


def gains_of(target: Tensor, kind: str = "exponential") -> Tensor:
    y = target.double()
    return 2**y - 1 if kind == "exponential" else y


def best(gains: Tensor, k: int | None) -> Tensor:
    ordered = gains.sort(descending=True).values[:k]
    return (ordered / torch.log2(torch.arange(len(ordered)) + 2.0)).sum()


def dense_ndcg(
    surrogate: Surrogate,
    k: int | None = None,
    kind: str = "exponential",
    softness: float = 0.0,
    printed: bool = False,
    alone: bool = False,
    log: bool = False,
) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        gains = gains_of(target, kind)
        values = surrogate.value(scores[:, None] - scores)
        others = values.sum(1) if printed else (values * (1 - torch.eye(len(scores)))).sum(1) + 1
        if alone:
            others = 1 + values[:, target == 0].sum(1)
        terms = gains / torch.log2(1 + others)
        if log:
            # −log Σ_i p_i/log₂(1 + g_i) is at most Σ_i p_i log log₂(1 + g_i).
            best_sum = gains.sum() if alone else best(gains, None)
            jensen = (gains / gains.sum() * torch.log2(1 + others).log()).sum()
            return jensen + (best_sum / gains.sum()).log()
        if k is not None and softness:
            terms = terms * dense_soft_share(scores, k, softness)
        elif k is not None:
            position = scores.argsort(descending=True).argsort()
            terms = terms * (position < k)
        return 1 - terms.sum() / (gains.sum() if alone else best(gains, k))

    return risk


def dense_list_net(
    uniform: bool, printed: bool = False, alone: bool = False
) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        y = target.double()
        relevant = y > 0
        number = len(y) if printed else relevant.sum()
        first = relevant / number if uniform else y.exp() / y.exp().sum()
        surprise = scores.logsumexp(0) - scores
        if alone:
            others = scores[~relevant].exp().sum()
            surprise = (scores.exp() + others).log() - scores
        return (first * surprise)[relevant].sum()

    return risk


def dense_list_mle(scores: Tensor, target: Tensor) -> Tensor:
    pairs = list(zip(target.tolist(), scores.tolist(), strict=True))
    order = sorted(range(len(pairs)), key=lambda i: (-pairs[i][0], -pairs[i][1]))
    ordered = scores[order]
    return sum(ordered[r:].logsumexp(0) - ordered[r] for r in range(len(ordered)))


def dense_lambda(k: int | None, mu: float = 10.0) -> Callable[[Tensor, Tensor], Tensor]:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        gains = gains_of(target) / best(gains_of(target), k)
        rank = (scores.argsort(descending=True).argsort() + 1).tolist()
        total = 0 * scores.sum()
        for i in range(len(scores)):
            for j in range(len(scores)):
                if target[i] <= target[j] or (k and rank[i] > k and rank[j] > k):
                    continue
                d_i, d_j = (0 if k and r > k else 1 / math.log2(1 + r) for r in (rank[i], rank[j]))
                apart = abs(rank[i] - rank[j])
                weight = abs(d_i - d_j) + mu * (1 / math.log2(1 + apart) - 1 / math.log2(2 + apart))
                pair = torch.nn.functional.softplus(scores[j] - scores[i]) / math.log(2)
                total = total + weight * (gains[i] - gains[j]) * pair
        return total

    return risk


row = partial(Row, graded=True)
DEFAULT, HINGE, SMOOTH, HUBER = Logistic(1.0), SquaredHinge(1.0), Sigmoid(4.0), OneSidedHuber(1.0)
STEEP = Exponential(2.0)
ROWS = [
    row("NDCG", NDCG, dense_ndcg(DEFAULT)),
    row("NDCG@5", NDCG, dense_ndcg(HINGE, 5), {"k": 5, "surrogate": HINGE}),
    row(
        "NDCG@5, soft",
        NDCG,
        dense_ndcg(HINGE, 5, softness=0.3),
        {"k": 5, "surrogate": HINGE, "softness": 0.3},
    ),
    row("NDCG, linear", NDCG, dense_ndcg(DEFAULT, None, "linear"), {"gain": "linear"}),
    row("NDCG, sigmoid", NDCG, dense_ndcg(SMOOTH), {"surrogate": SMOOTH}),
    row("NDCG, printed", NDCG, dense_ndcg(DEFAULT, printed=True), {"printed": True}),
    row(
        "NDCG@5, printed",
        NDCG,
        dense_ndcg(SMOOTH, 5, printed=True),
        {"k": 5, "surrogate": SMOOTH, "printed": True},
    ),
    row("NDCG, items", NDCG, dense_ndcg(HINGE), {"num_items": ITEMS, "surrogate": HINGE}),
    row(
        "NDCG@5, items",
        NDCG,
        dense_ndcg(HUBER, 5),
        {"k": 5, "num_items": ITEMS, "surrogate": HUBER},
    ),
    row("NDCG, exponential", NDCG, dense_ndcg(STEEP), {"surrogate": STEEP}),
    row(
        "NDCG@5, exponential",
        NDCG,
        dense_ndcg(STEEP, 5),
        {"k": 5, "surrogate": STEEP},
    ),
    row(
        "NDCG, exponential, negatives",
        NDCG,
        dense_ndcg(STEEP, alone=True),
        {"surrogate": STEEP, "competitors": "negatives"},
    ),
    row(
        "NDCG, negatives",
        NDCG,
        dense_ndcg(HINGE, kind="linear", alone=True),
        {"surrogate": HINGE, "competitors": "negatives", "gain": "linear"},
    ),
    row(
        "NDCG, log",
        NDCG,
        dense_ndcg(DEFAULT, log=True),
        {"outer": "log"},
    ),
    row(
        "NDCG, log, exponential, negatives",
        NDCG,
        dense_ndcg(STEEP, alone=True, log=True),
        {"outer": "log", "surrogate": STEEP, "competitors": "negatives"},
    ),
    row("ListNet", ListNet, dense_list_net(uniform=False)),
    row(
        "ListNet, uniform",
        ListNet,
        dense_list_net(uniform=True),
        {"target_distribution": "uniform"},
    ),
    row(
        "ListNet, printed",
        ListNet,
        dense_list_net(uniform=True, printed=True),
        {"target_distribution": "uniform", "printed": True},
    ),
    row(
        "ListNet, negatives",
        ListNet,
        dense_list_net(uniform=True, alone=True),
        {"target_distribution": "uniform", "competitors": "negatives"},
    ),
    row(
        "ListNet, negatives, items",
        ListNet,
        dense_list_net(uniform=False, alone=True),
        {"competitors": "negatives", "num_items": ITEMS},
    ),
    row("ListNet, items", ListNet, dense_list_net(uniform=False), {"num_items": ITEMS}),
    row("ListMLE", ListMLE, dense_list_mle),
    row("ApproxNDCG", ApproxNDCG, dense_ndcg(Sigmoid(10.0))),
    row("LambdaLoss", LambdaLoss, dense_lambda(None)),
    row("LambdaLoss@5", LambdaLoss, dense_lambda(5), {"k": 5}),
    row("LambdaRank", LambdaLoss, dense_lambda(None, 0.0), {"mu": 0.0}),
]
