"""Calls that are long enough for processes to share their work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from rankwise.objectives import (
    NDCG,
    SOAP,
    SOPRC,
    AveragePrecision,
    GlobalContrastive,
    Objective,
    PairwiseAUC,
    StableAP,
)
from rankwise.pairs import Hinge, OneSidedHuber, Sigmoid, pair_logsumexp, pair_sum

LONG, SHORT, LISTS, LENGTH = 70_000, 300, 40, 12
Arguments = Callable[[int], dict[str, Tensor]]


def pair_calls() -> dict[str, tuple[Callable[..., Tensor], dict[str, Tensor]]]:
    """Return functions of pairs with their arguments: many lists, long uppers, long lowers."""
    rng = torch.Generator().manual_seed(0)

    def scores(*shape: int) -> Tensor:
        return torch.randn(shape, generator=rng, dtype=torch.float64)

    huber, sigmoid = partial(pair_sum, OneSidedHuber(0.3)), partial(pair_sum, Sigmoid(5.0))
    softest = partial(pair_logsumexp, Hinge(1.0), temperature=0.5)
    calls = {}
    for name, function in {"huber": huber, "sigmoid": sigmoid, "softest": softest}.items():
        for rows, n, m in ((7, 4_000, 7_000), (1, LONG, SHORT), (1, SHORT, LONG), (1, 10, 10)):
            inputs = {"upper": scores(rows, n), "lower": scores(rows, m)}
            calls[f"{name} {rows} {n} {m}"] = function, inputs
        weight = torch.rand(1, LONG, generator=rng, dtype=torch.float64)
        inputs = {"upper": scores(1, SHORT), "lower": scores(1, LONG), "weight": weight}
        calls[f"{name} of weights"] = function, inputs
    return calls


def step_calls() -> dict[str, tuple[Objective, Arguments]]:
    """Return objectives with the arguments of a rank, by whether a list is spread over ranks."""

    def whole(rank: int, **more: Tensor) -> dict[str, Tensor]:
        rng = torch.Generator().manual_seed(rank)
        scores = torch.randn(LISTS, LENGTH, generator=rng, requires_grad=True)
        return {"scores": scores, "target": torch.arange(LENGTH).repeat(LISTS, 1) < 3, **more}

    def spread(rank: int) -> dict[str, Tensor]:
        rng = torch.Generator().manual_seed(rank)
        scores = torch.randn(LONG, generator=rng, requires_grad=True)
        return {"scores": scores, "target": torch.arange(LONG) % 50 == 0}

    by_list = partial(whole, list_ids=torch.arange(LISTS))
    by_item = partial(whole, item_ids=torch.arange(LISTS * LENGTH).reshape(LISTS, LENGTH))
    return {
        "lists: ap": (AveragePrecision(), whole),
        "lists: soprc": (SOPRC(0.1, LISTS), by_list),
        "lists: stable ap": (StableAP(0.1, LISTS), by_list),
        "lists: soap": (SOAP(0.1, LISTS * LENGTH), by_item),
        "lists: ndcg": (NDCG(num_items=LISTS * LENGTH), by_item),
        "lists: contrastive": (GlobalContrastive(LISTS), by_list),
        "spread: auc": (PairwiseAUC(), spread),
        "spread: ap": (AveragePrecision(), spread),
        "spread: soprc": (SOPRC(0.1), spread),
        "spread: stable ap": (StableAP(0.1), spread),
        "spread: ndcg": (NDCG(), spread),
    }
