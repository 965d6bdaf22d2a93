"""OpenAUC: known classes told apart, and ranked below what belongs to none of them."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import (
    require_floating,
    require_one_of,
    require_positive,
    require_same_device,
    require_same_shape,
)
from rankwise.eager import eager_only
from rankwise.lists import split_by_target
from rankwise.metrics import auroc
from rankwise.metrics.inputs import Array, Ties, from_tensor, to_tensor
from rankwise.objectives.auc.pairwise import pair_mean
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective, read_classes
from rankwise.pairs import Square, Surrogate, as_surrogate

__all__ = ["OpenAUC", "open_auc"]


class OpenAUC(ClassObjective):
    """mean_i CE_i + λ · mean_{i, j} 1[i classified correctly]·ℓ(r_j − r_i)   (Wang et al. 2022).

    i runs over the items of known classes and j over the open set, whose target is the number of
    classes, ``logits.shape[-1]``; −1 leaves an item out. r says how open an item is: −max logit,
    or ``open_scores`` in the call. The second mean is accuracy × the pairwise AUC loss of the open
    set against those classified correctly: n log n, and linear for ``Square``. Who is correct
    carries no gradient, the cross-entropy CE does that; a tie for the highest logit is not correct.
    λ is ``open_weight``.

    Where ℓ ≥ ℓ₀₁ and λ ≥ log 2, the loss divided by log 2 bounds 1 − OpenAUC from above. A list
    without an open item has only its first term, one without a known item contributes nothing. The
    authors make open items by mixing features of two classes; any source will do.
    """

    def __init__(
        self,
        surrogate: Surrogate | str = Square(1.0),  # noqa: B008  (surrogates are frozen)
        *,
        open_weight: float = 1.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_positive("open_weight", open_weight)
        self.surrogate, self.open_weight = as_surrogate(surrogate), open_weight

    @eager_only
    def forward(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        open_scores: Tensor | None = None,
        mask: Tensor | None = None,
        groups: Tensor | None = None,
        weight: Tensor | None = None,
        list_ids: Tensor | None = None,
        item_ids: Tensor | None = None,
    ) -> Tensor:
        """The mean risk over the lists that have an item of a known class."""
        with_open = _with_open_scores(scores, target, open_scores)
        return super().forward(
            with_open,
            target,
            mask=mask,
            groups=groups,
            weight=weight,
            list_ids=list_ids,
            item_ids=item_ids,
        )

    needs: ClassVar[str] = "an item of a known class"

    def counts(self, lists: ClassLists) -> Tensor:
        """Which lists have an item of a known class."""
        return _known_weight(lists).sum(-1) > 0

    def risk(self, lists: ClassLists) -> Tensor:
        logits, r = lists.scores[..., :-1], lists.scores[..., -1]
        known = _known_weight(lists)
        mass = known.sum(-1)
        own = lists.target.clamp_max(logits.shape[-1] - 1).unsqueeze(-1)
        surprise = logits.logsumexp(-1) - logits.gather(-1, own).squeeze(-1)
        cross_entropy = (known * surprise).sum(-1) / mass
        correct, is_open = known * (_hits(lists) == 1), _is_open(lists)
        pairs = split_by_target(r, is_open, weight=torch.where(is_open, lists.weight, correct))
        ranked = torch.zeros_like(cross_entropy)
        ranked[pairs.complete] = pair_mean(self.surrogate, pairs.select(pairs.complete))
        return cross_entropy + self.open_weight * correct.sum(-1) / mass * ranked


def open_auc(
    logits: Array,
    target: Array,
    *,
    open_scores: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
) -> Array:
    """mean_{i, j} 1[i classified correctly]·1[r_i < r_j]   (OpenAUC, Wang et al. 2022), exactly.

    i over the items of known classes, j over the open set (target ``logits.shape[-1]``), r as in
    :class:`OpenAUC`. It is the accuracy times the AUROC of the open set against the correctly
    classified. ``ties="standard"``: a pair of equal r counts half, and an item whose class is one
    of m with the highest logit counts 1/m, as if drawn by lot; ``"against"``: they are errors.
    NaN, with a warning, without a known or without an open item. A torch tensor or a numpy array.
    """
    z, classes = to_tensor(logits), to_tensor(target)
    given = None if open_scores is None else to_tensor(open_scores)
    weights = None if weight is None else to_tensor(weight)
    require_one_of("ties", ties, ("standard", "against"))
    if z.dim() != 2:
        raise ValueError(f"logits must have shape (items, classes), got {tuple(z.shape)}")
    items, _ = read_classes(_with_open_scores(z, classes, given), classes, None, weights)
    known, r = _known_weight(items).double(), items.scores[..., -1]
    share = _hits(items)
    correct = known * (share if ties == "standard" else share == 1)
    is_open = _is_open(items)
    weigh = torch.where(is_open, items.weight.double(), correct)
    if known.sum() > 0 and items.weight[is_open].sum() > 0 and correct.sum() == 0:
        return from_tensor(correct.sum(), logits)  # nobody to rank, but a value
    area = auroc(r, is_open, weight=weigh, ties=ties)
    return from_tensor(correct.sum() / known.sum() * area, logits)


def _with_open_scores(logits: Tensor, target: Tensor, open_scores: Tensor | None) -> Tensor:
    """The open score as one more column, that of the class which open items are given."""
    require_floating("scores", logits)
    if logits.dim() < 2 or logits.shape[-1] == 0:
        raise ValueError(f"scores must have shape (…, items, classes), got {tuple(logits.shape)}")
    if open_scores is None:
        # Items left out may hold NaN; where it counts, the logits themselves are looked at later.
        open_scores = -logits.nan_to_num().amax(-1)
    else:
        require_same_shape("open_scores", open_scores, "target", target)
        require_same_device("open_scores", open_scores, "scores", logits)
        require_floating("open_scores", open_scores)
    return torch.cat([logits, open_scores.unsqueeze(-1)], dim=-1)


def _is_open(lists: ClassLists) -> Tensor:
    return lists.target == lists.scores.shape[-1] - 1


def _known_weight(lists: ClassLists) -> Tensor:
    """Weight of the items of known classes, 0 for the others."""
    return lists.weight.masked_fill(_is_open(lists), 0)


@torch.no_grad()
def _hits(lists: ClassLists) -> Tensor:
    """1 where an item's own logit alone is the highest, 1/m where it is one of m, else 0."""
    logits = lists.scores[..., :-1]
    highest = logits == logits.amax(-1, keepdim=True)
    own = lists.target.clamp_max(logits.shape[-1] - 1).unsqueeze(-1)
    return highest.gather(-1, own).squeeze(-1).to(logits.dtype) / highest.sum(-1)
