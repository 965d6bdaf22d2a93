"""OpenAUC: classification of known classes, ranked below the items of unknown ones."""

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
    require_values,
)
from rankwise.eager import eager_only
from rankwise.lists import split_by_target
from rankwise.metrics import auroc
from rankwise.metrics.inputs import Array, Ties, from_tensor, to_tensor
from rankwise.objectives.auc.pairwise import pair_mean
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective, read_classes
from rankwise.pairs import Square, Surrogate, as_surrogate


class OpenAUC(ClassObjective):
    """Loss for open-set recognition: classify the known classes, rank the open set above them.

    mean_i CE_i + λ · mean_{i, j} 1[i classified correctly]·ℓ(r_j − r_i), where i runs over the
    items of known classes and j over the open set, whose target is the number of classes,
    ``logits.shape[-1]``; −1 leaves an item out. The open score r is −max logit, or ``open_scores``
    in the call. The second mean is accuracy × the pairwise AUC loss of the open set against the
    items classified correctly: n log n, and linear for ``Square``. The indicator carries no
    gradient, which the cross-entropy CE provides; a tie for the highest logit is not correct.

    Where ℓ ≥ ℓ₀₁ and λ ≥ log 2, the loss divided by log 2 bounds 1 − OpenAUC from above. A list
    without an open item has only its first term, one without a known item contributes nothing. The
    authors make open items by mixing features of two classes; any other source works, too.

    Args:
        surrogate: Pairwise loss ℓ, one of :mod:`rankwise.pairs` or its name.
        open_weight: The weight λ of the ranking term.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import OpenAUC
        >>> logits = torch.tensor([[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
        >>> target = torch.tensor([0, 1, 2])  # 2: of neither class
        >>> OpenAUC("hinge")(logits, target)  # log(1 + e⁻²): the open item is ranked right
        tensor(0.1269)

    Reference:
        Wang et al. 2022, "OpenAUC: Towards AUC-Oriented Open-Set Recognition".
    """

    twice_differentiable = True

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
        **arguments: Tensor | None,
    ) -> Tensor:
        """Compute the risk of the lists that have an item of a known class.

        Args:
            scores: Logits of the known classes, shape (…, items, classes).
            target: Class ids, shape (…, items); ``scores.shape[-1]`` for the open set.
            open_scores: Open score of each item, of the shape of ``target``; None: −max logit.
            **arguments: mask, groups, weight, list_ids and item_ids, see :meth:`Objective.forward`.

        Returns:
            One number; with ``reduction="none"`` one per list.
        """
        require_values("scores", scores)
        with_open = _with_open_scores(scores, target, open_scores)
        return super().forward(with_open, target, **arguments)

    needs: ClassVar[str] = "an item of a known class"

    def counts(self, lists: ClassLists) -> Tensor:
        """Return which lists have an item of a known class."""
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
    """Compute OpenAUC, mean_{i, j} 1[i classified correctly]·1[r_i < r_j], exactly.

    It is the accuracy times the AUROC of the open set against the items classified correctly, with
    i, j and r as in :class:`OpenAUC`. Without a known or without an open item it is NaN, with a
    warning.

    Args:
        logits: Scores of the known classes, a torch tensor or a numpy array of shape (items,
            classes).
        target: Class ids, shape (items,); ``logits.shape[-1]`` for the open set, −1 to leave an
            item out.
        open_scores: Open score r of each item, shape (items,); None takes −max logit.
        weight: Weight of each item, shape (items,).
        ties: ``"standard"`` counts a pair of equal r as one half, and an item whose class is one of
            m with the highest logit as 1/m; ``"against"`` counts both as errors.

    Returns:
        One number, of the library of ``logits``.

    Example:
        >>> import torch
        >>> from rankwise.objectives.auc import open_auc
        >>> logits = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
        >>> open_auc(logits, torch.tensor([0, 1, 2])).item()  # accuracy 1/2, AUROC 1
        0.5

    Reference:
        Wang et al. 2022, "OpenAUC: Towards AUC-Oriented Open-Set Recognition".
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
        return from_tensor(correct.sum(), logits)  # no item to rank, yet the value is known: 0
    area = auroc(r, is_open, weight=weigh, ties=ties)
    return from_tensor(correct.sum() / known.sum() * area, logits)


def _with_open_scores(logits: Tensor, target: Tensor, open_scores: Tensor | None) -> Tensor:
    """Append the open score as one more column, that of the class of the open items."""
    require_floating("scores", logits)
    if logits.dim() < 2 or logits.shape[-1] == 0:
        raise ValueError(f"scores must have shape (…, items, classes), got {tuple(logits.shape)}")
    if open_scores is None:
        # Items left out may hold NaN; the logits of the others are checked later.
        open_scores = -logits.nan_to_num().amax(-1)
    else:
        require_same_shape("open_scores", open_scores, "target", target)
        require_same_device("open_scores", open_scores, "scores", logits)
        require_floating("open_scores", open_scores)
    return torch.cat([logits, open_scores.unsqueeze(-1)], dim=-1)


def _is_open(lists: ClassLists) -> Tensor:
    return lists.target == lists.scores.shape[-1] - 1


def _known_weight(lists: ClassLists) -> Tensor:
    """Return the weight of the items of known classes, 0 for the others."""
    return lists.weight.masked_fill(_is_open(lists), 0)


@torch.no_grad()
def _hits(lists: ClassLists) -> Tensor:
    """Return 1 where the logit of the item's class alone is highest, 1/m for one of m, else 0."""
    logits = lists.scores[..., :-1]
    highest = logits == logits.amax(-1, keepdim=True)
    own = lists.target.clamp_max(logits.shape[-1] - 1).unsqueeze(-1)
    return highest.gather(-1, own).squeeze(-1).to(logits.dtype) / highest.sum(-1)
