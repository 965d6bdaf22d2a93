"""Rows of the partial AUC family."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from tests.objectives.contract import ITEMS, Row, log_mean_exp, sides
from torch import Tensor

from rankwise.objectives.partial_auc import PartialAUC, TwoWayPartialAUC
from rankwise.pairs import Hinge, SquaredHinge, Surrogate

Dense = Callable[[Tensor, Tensor], Tensor]


def mean_of_largest(values: Tensor, count: float) -> Tensor:
    """Mean over the last dimension of its ``count`` largest values, the last one in part."""
    ranked = values.sort(dim=-1, descending=True).values
    share = torch.tensor([min(1.0, max(0.0, count - rank)) for rank in range(ranked.shape[-1])])
    return (ranked * share).sum(-1) / count


def dense_direct(
    min_fpr: float, max_fpr: float, min_tpr: float = 0.0, printed: bool = False
) -> Dense:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        first = min(math.ceil(len(negatives) * min_fpr - 1e-9), len(negatives) - 1)
        last = max(first + 1, math.floor(len(negatives) * max_fpr + 1e-9))
        share = len(positives) * (1 - min_tpr)
        number = max(1, math.floor(share + 1e-9)) if printed else math.ceil(share - 1e-9)
        lowest = sorted(positives, key=lambda s: s.item())[:number]
        hard = sorted(negatives, key=lambda s: -s.item())[first:last]
        losses = [SquaredHinge(1.0).value(s - t) for s in lowest for t in hard]
        return torch.stack(losses).mean()

    return risk


def dense_cvar(surrogate: Surrogate, max_fpr: float, min_tpr: float | None = None) -> Dense:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        losses = surrogate.value(positives[:, None] - negatives)
        values = mean_of_largest(losses, max_fpr * len(negatives))
        if min_tpr is None:
            return values.mean()
        return mean_of_largest(values, (1 - min_tpr) * len(positives))

    return risk


def dense_kl(surrogate: Surrogate, inner: float, outer: float | None = None) -> Dense:
    def risk(scores: Tensor, target: Tensor) -> Tensor:
        positives, negatives = sides(scores, target)
        losses = surrogate.value(positives[:, None] - negatives)
        logarithms = inner * log_mean_exp(losses / inner)
        return logarithms.mean() if outer is None else outer * log_mean_exp(logarithms / outer)

    return risk


def chosen(share: float) -> float:
    return 1 / math.sqrt(2 * math.log(1 / share))


MEMORY = {"num_items": ITEMS}
SQUARED = {"surrogate": SquaredHinge(1.0)}
ONE = {"max_fpr": 0.3}
BOTH = {"min_tpr": 0.4, "max_fpr": 0.3}
# Both temperatures chosen by the share, and both given.
KL, TWO_KL = {**ONE, "form": "kl"}, {**BOTH, "form": "kl"}
SOPA_S = {**KL, **SQUARED, "temperature": 2.0}
SOTA_S = {**TWO_KL, **SQUARED, "temperature": 2.0, "positive_temperature": 3.0}
CVAR, TWO_CVAR = {**ONE, "form": "cvar"}, {**BOTH, "form": "cvar"}

of_hinge, of_squared = dense_kl(Hinge(1.0), chosen(0.3)), dense_kl(SquaredHinge(1.0), 2.0)
two_of_hinge = dense_kl(Hinge(1.0), chosen(0.3), chosen(0.6))
two_of_squared = dense_kl(SquaredHinge(1.0), 2.0, 3.0)
cvar, two_cvar = dense_cvar(SquaredHinge(1.0), 0.3), dense_cvar(SquaredHinge(1.0), 0.3, 0.4)
hinge_cvar = dense_cvar(Hinge(0.5), 0.3)
HINGE = {"surrogate": Hinge(0.5)}

ROWS = [
    Row("PartialAUC", PartialAUC, dense_direct(0.0, 0.3), ONE),
    Row("PartialAUC, range", PartialAUC, dense_direct(0.1, 0.3), {**ONE, "min_fpr": 0.1}),
    Row("PartialAUC, cvar", PartialAUC, cvar, CVAR),
    Row("PartialAUC, cvar of items", PartialAUC, cvar, {**CVAR, **MEMORY}),
    Row("PartialAUC, hinge cvar", PartialAUC, hinge_cvar, {**CVAR, **HINGE}),
    Row("PartialAUC, hinge cvar of items", PartialAUC, hinge_cvar, {**CVAR, **HINGE, **MEMORY}),
    Row("PartialAUC, kl", PartialAUC, of_hinge, KL),
    Row("PartialAUC, kl of items", PartialAUC, of_hinge, {**KL, **MEMORY}),
    Row("PartialAUC, squared kl", PartialAUC, of_squared, SOPA_S),
    Row("PartialAUC, squared kl of items", PartialAUC, of_squared, {**SOPA_S, **MEMORY}),
    Row("TwoWayPartialAUC", TwoWayPartialAUC, dense_direct(0.0, 0.3, 0.4), BOTH),
    Row(
        "TwoWayPartialAUC, printed",
        TwoWayPartialAUC,
        dense_direct(0.0, 0.3, 0.4, printed=True),
        {**BOTH, "printed": True},
    ),
    Row("TwoWayPartialAUC, cvar", TwoWayPartialAUC, two_cvar, TWO_CVAR),
    Row("TwoWayPartialAUC, cvar of items", TwoWayPartialAUC, two_cvar, {**TWO_CVAR, **MEMORY}),
    Row("TwoWayPartialAUC, kl", TwoWayPartialAUC, two_of_hinge, TWO_KL),
    Row("TwoWayPartialAUC, kl of items", TwoWayPartialAUC, two_of_hinge, {**TWO_KL, **MEMORY}),
    Row("TwoWayPartialAUC, squared kl", TwoWayPartialAUC, two_of_squared, SOTA_S),
    Row(
        "TwoWayPartialAUC, squared kl of items",
        TwoWayPartialAUC,
        two_of_squared,
        {**SOTA_S, **MEMORY},
    ),
]
