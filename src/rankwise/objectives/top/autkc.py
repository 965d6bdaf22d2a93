"""AUTKC: the area under the top-k curve of a classifier of many classes."""

from __future__ import annotations

from torch import Tensor, inf

from rankwise.checks import require_count
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective
from rankwise.pairs import Square, Surrogate, as_surrogate, pair_sum


class AUTKC(ClassObjective):
    """Area under the top-k curve of a classifier, as a loss.

    The loss is mean_i (1/K) Σ_{k≤K} ℓ(f_y(i) − f_[k](i)), where f_[1] ≥ f_[2] ≥ … are the scores of
    the classes other than the item's own class y. With ℓ₀₁ it is the mean over k ≤ K of the top-k
    error, min(rank of y − 1, K)/K. The Bayes-optimal scores have the right first K classes in the
    right order if ℓ is differentiable, strictly decreasing and bounded over the scores: square,
    logistic and exponential loss on the softmax, not the hinge. Of classes tied at the cut one has
    the subgradient. The call is that of a :class:`~rankwise.objectives.classes.ClassObjective`.

    Args:
        k: Number K of ranks.
        surrogate: Pairwise loss ℓ, or its string.
        softmax: Whether f is the softmax of the logits; else f are the logits. On logits the square
            penalizes a class that is ahead by more than its margin: choose ``Logistic`` there.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import AUTKC
        >>> logits, target = torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([1])
        >>> AUTKC(2, softmax=False)(logits, target)  # square with margin 1: (2² + 0²)/2
        tensor(2.)

    Reference:
        Wang et al. 2022, "Optimizing Partial Area Under the Top-k Curve: Theory and Practice". The
        authors' code has K + 1 terms and starts with epochs of cross-entropy.
    """

    twice_differentiable = True

    def __init__(
        self,
        k: int,
        surrogate: Surrogate | str = Square(1.0),  # noqa: B008  (surrogates are frozen)
        *,
        softmax: bool = True,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_count("k", k)
        self.k, self.surrogate, self.softmax = k, as_surrogate(surrogate), softmax

    def risk(self, lists: ClassLists) -> Tensor:
        f = lists.scores.softmax(-1) if self.softmax else lists.scores
        own = lists.target.unsqueeze(-1)
        # With K classes or fewer the terms that are missing are zero: y is among all of them.
        among = min(self.k, f.shape[-1] - 1)
        rivals = f.scatter(-1, own, -inf).topk(among, dim=-1).values
        error = pair_sum(self.surrogate, f.gather(-1, own), rivals).squeeze(-1) / self.k
        return (error * lists.weight).sum(-1) / lists.weight.sum(-1)
