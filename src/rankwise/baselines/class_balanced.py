"""Losses that weigh classes by their number of items: class-balanced cross-entropy and LDAM."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from rankwise.baselines.pointwise import PointwiseObjective, true_class_logit
from rankwise.checks import is_finite, require_count, require_each, require_positive
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective

Counts = Sequence[float] | Tensor
"""How many items of each class the training set has, in the order of the classes."""


def checked_counts(counts: Counts) -> Tensor:
    """Return the counts as (classes,); raise unless there are two or more, each >= 1."""
    wrong = ValueError(
        "counts must be the number of items of each of two or more classes, each >= 1, "
        f"got {counts!r}"
    )
    try:
        values = torch.as_tensor(counts, dtype=torch.float64)
    except (TypeError, ValueError):  # words, or rows of different lengths
        raise wrong from None
    several = values.dim() == 1 and len(values) > 1
    if not (several and bool(((values >= 1) & values.isfinite()).all())):
        raise wrong
    return values


def effective_number_weights(counts: Tensor, beta: float) -> Tensor:
    """Return (1 − β)/(1 − β^n) of every class, scaled to mean 1 (Cui et al. 2019)."""
    if not (is_finite(beta) and 0 <= beta < 1):
        raise ValueError(f"beta must be in [0, 1), got {beta!r}")
    base = torch.tensor(beta, dtype=torch.float64)
    weights = (1 - beta) / -torch.expm1(counts * base.log())
    return weights / weights.mean()


class ClassBalanced(PointwiseObjective):
    """Class-balanced cross-entropy: the mean over items of w_y · cross-entropy.

    w_y ∝ (1 − β)/(1 − β^{n_y}), and the two weights sum to 2. A list of one class counts, too.

    Args:
        counts: Number of negatives and of positives in the training set, in this order.
        beta: β in [0, 1); 0.9999 in the authors' code for long tails
            (richardaecn/class-balanced-loss, ``cifar_im_trainval_cb.sh``), 0 is plain
            cross-entropy, and toward 1 it becomes inverse frequency.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import ClassBalanced
        >>> loss = ClassBalanced((1, 2), beta=0.5)  # weights 6/5 and 4/5
        >>> loss(torch.zeros(1), torch.tensor([1]))  # 4/5 · log(2)
        tensor(0.5545)

    Reference:
        Cui et al. 2019, "Class-balanced loss based on effective number of samples".
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
        return -logsigmoid(true_class_logit(scores, target)) * weight


class LDAM(ClassObjective):
    """LDAM: softmax cross-entropy with larger margins for smaller classes.

    The loss is the cross-entropy of scale·(z − Δ_y at the item's own class), with Δ_c = max_margin
    · (n_c / min n)^(−1/4). The logits z are cosines of features and class vectors (a normalized
    last layer), which the published margin and scale are meant for. A batch of one class counts
    like any other.

    Args:
        counts: Number of items n_c of every class in the training set.
        max_margin: Margin of the smallest class. It and ``scale`` are those of the authors' code
            (kaidic/LDAM-DRW, ``cifar_train.py``).
        scale: Factor of the logits.
        defer: Epoch of deferred re-weighting (DRW), counted by :meth:`set_epoch`: from then on
            items are weighted by (1 − β)/(1 − β^{n_y}) and averaged with these weights, as in the
            authors' code, which chooses 160 of 200 epochs. None never does. The epoch is a buffer.
        beta: β of these weights.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import LDAM
        >>> loss = LDAM((16, 1), scale=1.0)
        >>> loss.margins
        tensor([0.2500, 0.5000], dtype=torch.float64)
        >>> loss(torch.zeros(1, 2), torch.tensor([1]))  # log(1 + e^0.5)
        tensor(0.9741)

    Reference:
        Cao et al. 2019, "Learning imbalanced datasets with label-distribution-aware margin loss".
    """

    twice_differentiable = True
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
        require_each(require_positive, max_margin=max_margin, scale=scale)
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
        """Set the epoch that begins, counted from 0."""
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
