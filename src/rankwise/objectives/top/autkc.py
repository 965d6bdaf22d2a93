"""AUTKC: the area under the top-k curve of a classifier of many classes."""

from __future__ import annotations

from torch import Tensor, inf

from rankwise.checks import require_count
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective, require_several_classes
from rankwise.pairs import Square, Surrogate, pair_sum

__all__ = ["AUTKC"]


class AUTKC(ClassObjective):
    """mean_i (1/K) Σ_{k≤K} ℓ(f_y(i) − f_[k](i))   (Wang et al. 2022, AUTKC).

    f_[1] ≥ f_[2] ≥ … are the scores of the classes other than the item's own class y. With ℓ₀₁ it
    is the mean over k ≤ K of the top-k error, which is min(rank of y − 1, K)/K. f = softmax of the
    logits, or with ``softmax=False`` the logits themselves. The Bayes-optimal scores have the right
    first K classes in the right order if ℓ is differentiable, strictly decreasing and bounded over
    the scores: square, logistic and exponential loss on the softmax, not the hinge. On the logits
    the square would punish a class that is right by much; take the logistic loss there. Of classes
    tied at the cut one has the subgradient. The authors' code has K + 1 terms, and begins with
    cross-entropy.
    """

    def __init__(
        self,
        k: int,
        surrogate: Surrogate = Square(1.0),  # noqa: B008  (surrogates are frozen)
        *,
        softmax: bool = True,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_count("k", k)
        self.k, self.surrogate, self.softmax = k, surrogate, softmax

    def require_classes(self, classes: int) -> None:
        require_several_classes(classes)

    def risk(self, lists: ClassLists) -> Tensor:
        f = lists.scores.softmax(-1) if self.softmax else lists.scores
        own = lists.target.unsqueeze(-1)
        # With K classes or fewer the terms that are missing are zero: y is among all of them.
        among = min(self.k, f.shape[-1] - 1)
        rivals = f.scatter(-1, own, -inf).topk(among, dim=-1).values
        error = pair_sum(self.surrogate, f.gather(-1, own), rivals).squeeze(-1) / self.k
        return (error * lists.weight).sum(-1) / lists.weight.sum(-1)
