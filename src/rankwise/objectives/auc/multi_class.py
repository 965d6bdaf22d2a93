"""AUC of several classes: one against one, or one against the rest."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from torch import Tensor

from rankwise.checks import require_one_of
from rankwise.lists import split_by_target
from rankwise.objectives.auc.pairwise import pair_mean
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective
from rankwise.pairs import Square, Surrogate, as_surrogate


class MultiClassAUC(ClassObjective):
    """Pairwise loss for the AUC of several classes: mean_{a≠b} mean_{i∈a, j∈b} ℓ(f_a(i) − f_a(j)).

    The targets are class ids, and f_a scores how much an item is of class a. Means are over the
    classes of the list; a list of one class contributes nothing. Published (one-vs-one,
    ``Square(1)``; statusrank/XCurve, ``AUROCLoss.py``), the sum is half of this. The time is
    classes × items · log items, and linear in the items for ``Square`` and ``Exponential``. For
    several labels per item, use ``OneVsRest(PairwiseAUC(surrogate))``, which also takes missing
    labels.

    Args:
        surrogate: Pairwise loss ℓ, one of :mod:`rankwise.pairs` or its name.
        scheme: ``"ovo"`` ranks every class against every other, each pair of classes with the same
            weight. ``"ovr"`` ranks each class against all others together, mean_a mean_{i∈a, j∉a}
            ℓ.
        softmax: Whether f is the softmax of the logits; False takes the logits.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import MultiClassAUC
        >>> logits, target = torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1])
        >>> MultiClassAUC("square", softmax=False)(logits, target)  # ((1 − 2)² + (1 − 1)²)/2
        tensor(0.5000)

    Reference:
        Yang et al. 2021, "Learning with Multiclass AUC: Theory and Algorithms".
    """

    twice_differentiable = True

    def __init__(
        self,
        surrogate: Surrogate | str = Square(1.0),  # noqa: B008  (surrogates are frozen)
        *,
        scheme: Literal["ovo", "ovr"] = "ovo",
        softmax: bool = True,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_one_of("scheme", scheme, ("ovo", "ovr"))
        self.surrogate, self.scheme, self.softmax = as_surrogate(surrogate), scheme, softmax

    needs: ClassVar[str] = "two classes"

    def counts(self, lists: ClassLists) -> Tensor:
        """Return which lists have at least two classes."""
        return (_mass(lists) > 0).sum(-1) > 1

    def risk(self, lists: ClassLists) -> Tensor:
        f = (lists.scores.softmax(-1) if self.softmax else lists.scores).transpose(1, 2)
        mass = _mass(lists)
        weight = lists.weight
        if self.scheme == "ovo":
            # Each class weighs 1: a list's negatives then weigh as many as there are other classes.
            own = mass.gather(1, lists.target)
            weight = weight / torch.where(own > 0, own, 1)
        ids = torch.arange(f.shape[1], device=f.device)
        hot = lists.target.unsqueeze(1) == ids.unsqueeze(-1)
        by_class = split_by_target(f, hot, weight=weight.unsqueeze(1).expand_as(f))
        present = (mass > 0).flatten()
        risks = f.new_zeros(present.shape)
        risks[present] = pair_mean(self.surrogate, by_class.select(present))
        return risks.reshape(mass.shape).sum(-1) / (mass > 0).sum(-1)


def _mass(lists: ClassLists) -> Tensor:
    """Return the weight of every class, (lists, classes)."""
    total = lists.weight.new_zeros(len(lists.weight), lists.scores.shape[-1])
    return total.scatter_add(1, lists.target, lists.weight)
