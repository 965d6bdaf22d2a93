"""Rows of what takes relevances: NDCG, the listwise losses and their baselines."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import permutations
from statistics import fmean

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
        differences = scores[:, None] - scores
        if isinstance(surrogate, Exponential):
            counted = (
                (target == 0).expand_as(differences) if alone else ~torch.eye(len(scores)).bool()
            )
            logarithms = (-surrogate.scale * differences).masked_fill(~counted, -math.inf)
            # log(1 + g) with g = 1 + Σ e^…, which leaves the range of numbers before its logarithm.
            discount = torch.logaddexp(logarithms.logsumexp(1), gains.new_tensor(2.0).log())
            discount = discount / math.log(2)
        else:
            values = surrogate.value(differences)
            rank = values.sum(1) if printed else (values * (1 - torch.eye(len(scores)))).sum(1) + 1
            if alone:
                rank = 1 + values[:, target == 0].sum(1)
            discount = torch.log2(1 + rank)
        terms = gains / discount
        if log:
            # −log Σ_i p_i/log₂(1 + g_i) is at most Σ_i p_i log log₂(1 + g_i).
            best_sum = gains.sum() if alone else best(gains, None)
            return (gains / gains.sum() * discount.log()).sum() + (best_sum / gains.sum()).log()
        if k is not None and softness:
            terms = terms * dense_soft_share(scores, k, softness)
        elif k is not None:
            # Tied items share the places that are left, as in the mean over all of their orders.
            above, tied = (scores > scores[:, None]).sum(1), (scores == scores[:, None]).sum(1)
            terms = terms * ((k - above) / tied).clamp(0, 1)
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
            surprise = torch.logaddexp(scores, scores[~relevant].logsumexp(0)) - scores
        return (first * surprise)[relevant].sum()

    return risk


def dense_list_mle(scores: Tensor, target: Tensor) -> Tensor:
    pairs = list(zip(target.tolist(), scores.tolist(), strict=True))
    order = sorted(range(len(pairs)), key=lambda i: (-pairs[i][0], -pairs[i][1]))
    ordered = scores[order]
    return sum(ordered[r:].logsumexp(0) - ordered[r] for r in range(len(ordered)))


def dense_lambda(k: int | None, mu: float = 10.0) -> Callable[[Tensor, Tensor], Tensor]:
    """LambdaLoss with every tied item at each of the ranks that it has in some order."""

    def discount(rank: float) -> float:
        return 0 if k and rank > k else 1 / math.log2(1 + rank)

    def bound(apart: float) -> float:
        return 1 / math.log2(1 + apart) - 1 / math.log2(2 + apart)

    @cache
    def among(ranks: range) -> float:
        """The mean weight of two items that are tied, over two different ranks."""
        pairs = list(permutations(ranks, 2))
        return fmean(abs(discount(a) - discount(b)) + mu * bound(abs(a - b)) for a, b in pairs)

    @cache
    def between(first: range, second: range) -> float:
        """The weight of two others: LambdaRank's over all orders, the bound's at mean ranks."""
        d_i, d_j = (fmean(map(discount, ranks)) for ranks in (first, second))
        return abs(d_i - d_j) + mu * bound(abs(fmean(first) - fmean(second)))

    def risk(scores: Tensor, target: Tensor) -> Tensor:
        gains = gains_of(target) / best(gains_of(target), k)
        above = (scores > scores[:, None]).sum(1).tolist()
        tied = (scores == scores[:, None]).sum(1).tolist()
        ranks = [range(a + 1, a + n + 1) for a, n in zip(above, tied, strict=True)]
        weight = torch.zeros(len(scores), len(scores), dtype=torch.float64)
        for i, j in permutations(range(len(scores)), 2):
            if target[i] > target[j] and not (k and ranks[i][0] > k and ranks[j][0] > k):
                same = ranks[i] == ranks[j]
                weight[i, j] = among(ranks[i]) if same else between(ranks[i], ranks[j])
        pair = torch.nn.functional.softplus(scores - scores[:, None]) / math.log(2)
        return (weight * (gains[:, None] - gains) * pair).sum()

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
