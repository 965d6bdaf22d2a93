"""Losses that weigh classes by their number of items: class-balanced cross-entropy and LDAM."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from rankwise.baselines.pointwise import PointwiseObjective, toward_truth
from rankwise.checks import require_count, require_positive
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective

__all__ = ["ClassBalanced", "Counts", "LDAM", "checked_counts", "effective_number_weights"]


Counts = Sequence[float] | Tensor
"""How many items of each class the training set has, in the order of the classes."""


def checked_counts(counts: Counts) -> Tensor:
    """The counts as (classes,), at least two of them and none below one."""
    values = torch.as_tensor(counts, dtype=torch.float64)
    if (
        values.dim() != 1
        or len(values) < 2
        or not bool((values >= 1).all() & values.isfinite().all())
    ):
        raise ValueError(
            "counts must be the number of items of each of two or more classes, each >= 1, "
            f"got {counts!r}"
        )
    return values


def effective_number_weights(counts: Tensor, beta: float) -> Tensor:
    """(1 − β)/(1 − β^n) of every class, scaled to mean 1   (Cui et al. 2019)."""
    if not 0 <= beta < 1:
        raise ValueError(f"beta must be in [0, 1), got {beta!r}")
    base = torch.tensor(beta, dtype=torch.float64)
    weights = (1 - beta) / -torch.expm1(counts * base.log())
    return weights / weights.mean()


class ClassBalanced(PointwiseObjective):
    """mean over items of w_y · cross-entropy, w_y ∝ (1 − β)/(1 − β^{n_y})   (Cui et al. 2019).

    ``counts`` are how many negatives and positives the training set has, in this order, and the two
    weights sum to 2; β = 0.9999 is the published choice for long tails (0 is plain cross-entropy,
    toward 1 it is inverse frequency). A list of one class counts, too.
    """

    class_weight: Tensor  # of the negatives and of the positives

    def __init__(
        self, counts: Counts, beta: float = 0.9999, *, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        values = checked_counts(counts)
        if len(values) != 2:
            raise ValueError(
                f"counts must be two, of the negatives and of the positives, got {len(values)}; "
                "for logits of several classes use LDAM or OneVsRest"
            )
        weights = effective_number_weights(values, beta)
        self.register_buffer("class_weight", weights, persistent=False)
        self.beta = beta

    def item_loss(self, scores: Tensor, target: Tensor) -> Tensor:
        weight = self.class_weight.to(scores.dtype)[target.long()]
        return -logsigmoid(toward_truth(scores, target)) * weight


class LDAM(ClassObjective):
    """Softmax cross-entropy of scale·(z − Δ_y at the item's own class)   (Cao et al. 2019).

    Δ_c = max_margin · (n_c / min n)^(−1/4) with the ``counts`` n_c of the training set. The logits
    z are cosines of features and class vectors (a normalized last layer), for which the published
    margin 0.5 and scale 30 are meant. A batch of one class counts like any other.

    Deferred re-weighting (DRW): from epoch ``defer`` on, as told by :meth:`set_epoch`, items are
    weighted by (1 − β)/(1 − β^{n_y}) and their losses averaged with these weights, as in the
    authors' code; 160 of 200 epochs is their choice. The epoch is a buffer.
    """

    margins: Tensor
    class_weight: Tensor  # from the epoch ``defer`` on
    epoch: Tensor

    def __init__(
        self,
        counts: Counts,
        max_margin: float = 0.5,
        scale: float = 30.0,
        *,
        defer: int | None = None,
        beta: float = 0.9999,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_positive("max_margin", max_margin)
        require_positive("scale", scale)
        if defer is not None:
            require_count("defer", defer, minimum=0)
        values = checked_counts(counts)
        self.max_margin, self.scale, self.defer, self.beta = max_margin, scale, defer, beta
        margins = max_margin * (values / values.min()) ** -0.25
        weights = effective_number_weights(values, beta)
        self.register_buffer("margins", margins, persistent=False)
        self.register_buffer("class_weight", weights, persistent=False)
        self.register_buffer("epoch", torch.zeros((), dtype=torch.long))

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins, counted from 0."""
        require_count("epoch", epoch, minimum=0)
        self.epoch.fill_(epoch)

    @property
    def reweights(self) -> bool:
        """Whether the classes are weighted in the current epoch."""
        return self.defer is not None and int(self.epoch) >= self.defer

    def require_classes(self, classes: int) -> None:
        if classes != len(self.margins):
            raise ValueError(
                f"scores must have {len(self.margins)} classes, as many as counts, got {classes}"
            )

    def risk(self, lists: ClassLists) -> Tensor:
        dtype = lists.scores.dtype
        own = lists.target.unsqueeze(-1)
        margin = self.margins.to(dtype)[own]
        logits = self.scale * lists.scores.scatter_add(-1, own, -margin)
        loss = torch.logsumexp(logits, dim=-1) - logits.gather(-1, own).squeeze(-1)
        weight = lists.weight
        if self.reweights:
            weight = weight * self.class_weight.to(dtype)[lists.target]
        return (weight * loss).sum(-1) / weight.sum(-1)
