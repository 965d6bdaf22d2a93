"""MAUC: the area under the ROC curve of every class against every other."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.baselines.class_lists import ClassLists, ClassObjective
from rankwise.checks import require_positive

__all__ = ["MultiClassAUC"]


class MultiClassAUC(ClassObjective):
    """mean_{a≠b} mean_{i∈a, j∈b} (margin − f_a(i) + f_a(j))²   (Yang et al. 2021, MAUC).

    Every class against every other. f = softmax of the logits, or with ``softmax=False`` the logits
    themselves; f_a scores how much an item is of class a. The mean is over the ordered pairs of
    classes that the batch has; a batch of one class contributes nothing. The square falls apart
    into moments, (margin − μ_aa + μ_ab)² + var_aa + var_ab with μ_ab the mean of f_a over class b,
    so that the time is linear in items × classes. The authors' code has half of it.
    """

    def __init__(self, margin: float = 1.0, *, softmax: bool = True) -> None:
        super().__init__()
        require_positive("margin", margin)
        self.margin, self.softmax = margin, softmax

    def counts(self, lists: ClassLists) -> Tensor:
        """Which lists have two classes at least."""
        return (_mass(lists) > 0).sum(-1) > 1

    def risk(self, lists: ClassLists) -> Tensor:
        f = lists.scores.softmax(-1) if self.softmax else lists.scores
        mass = _mass(lists)
        # No pair sees a shift of a whole score; digits spent on it would be lost.
        weight = lists.weight.unsqueeze(-1)
        f = f - (weight * f).detach().sum(1, keepdim=True) / weight.sum(1, keepdim=True)
        own = lists.target.unsqueeze(-1).expand_as(f)
        divisor = torch.where(mass > 0, mass, 1).unsqueeze(-1)

        def means(values: Tensor) -> Tensor:
            """(lists, class b, score a): the mean of score a over class b."""
            total = torch.zeros_like(divisor).repeat(1, 1, f.shape[-1])
            return total.scatter_add(1, own, values * weight) / divisor

        mean = means(f)
        # About the means: as a difference of moments it would lose its digits on large scores.
        variance = means((f - mean.gather(1, own)) ** 2)
        mean_own, variance_own = (t.diagonal(dim1=1, dim2=2).unsqueeze(1) for t in (mean, variance))
        pairs = (self.margin - mean_own + mean) ** 2 + variance_own + variance
        present = mass > 0
        chosen = present.unsqueeze(1) & present.unsqueeze(2)
        chosen &= ~torch.eye(f.shape[-1], dtype=torch.bool, device=f.device)
        return torch.where(chosen, pairs, 0).sum((1, 2)) / chosen.sum((1, 2))

    def extra_repr(self) -> str:
        """The settings."""
        return f"margin={self.margin}, softmax={self.softmax}"


def _mass(lists: ClassLists) -> Tensor:
    """Weight of every class, (lists, classes)."""
    total = lists.weight.new_zeros(len(lists.weight), lists.scores.shape[-1])
    return total.scatter_add(1, lists.target, lists.weight)
