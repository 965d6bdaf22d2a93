"""TopPush: every positive above the highest negative, in linear time."""

from __future__ import annotations

from torch import Tensor, inf

from rankwise.lists import Lists
from rankwise.objectives.base import Objective, Reduction
from rankwise.pairs import SquaredHinge, Surrogate, as_surrogate, pair_sum


class TopPush(Objective):
    """Loss of every positive against the highest negative.

    The loss is mean_{i∈P} ℓ(s_i − max_{j∈N} s_j). For ℓ ≥ ℓ₀₁ it is an upper bound of the share of
    positives that are not above all negatives. It is linear in the length of the list. Negatives
    tied at the top share the subgradient evenly.

    Args:
        surrogate: Pairwise loss ℓ, or its string.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import TopPush
        >>> scores, target = torch.tensor([2.0, 0.5, 1.0]), torch.tensor([1, 1, 0])
        >>> TopPush()(scores, target)  # squared hinge with margin 1: (0² + 1.5²)/2
        tensor(1.1250)

    Reference:
        Li, Jin and Zhou 2014, "Top Rank Optimization in Linear Time".
    """

    twice_differentiable = True

    def __init__(
        self,
        surrogate: Surrogate | str = SquaredHinge(1.0),  # noqa: B008  (surrogates are frozen)
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.surrogate = as_surrogate(surrogate)

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        present = lists.negatives.masked_fill(lists.negative_weight == 0, -inf)
        top = present.amax(-1, keepdim=True)
        return lists.mean_over_positives(pair_sum(self.surrogate, lists.positives, top))
