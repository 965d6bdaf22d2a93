"""LDAM: margins by class size, with deferred re-weighting."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.baselines.class_weights import Counts, checked_counts, effective_number_weights
from rankwise.baselines.options import require_steps
from rankwise.checks import require_positive
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective

__all__ = ["LDAM"]


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
            require_steps("defer", defer)
        values = checked_counts(counts)
        self.max_margin, self.scale, self.defer, self.beta = max_margin, scale, defer, beta
        margins = max_margin * (values / values.min()) ** -0.25
        weights = effective_number_weights(values, beta)
        self.register_buffer("margins", margins, persistent=False)
        self.register_buffer("class_weight", weights, persistent=False)
        self.register_buffer("epoch", torch.zeros((), dtype=torch.long))

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins, counted from 0."""
        require_steps("epoch", epoch)
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
