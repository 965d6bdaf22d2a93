"""Binary cross-entropy, plain and class-balanced."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import logsigmoid

from rankwise.baselines.class_weights import Counts, checked_counts, effective_number_weights
from rankwise.baselines.itemwise import ItemwiseObjective

__all__ = ["ClassBalanced", "CrossEntropy"]


class CrossEntropy(ItemwiseObjective):
    """mean over items of −y log σ(s) − (1−y) log(1 − σ(s)). A list of one class counts, too."""

    def item_loss(self, toward: Tensor, positive: Tensor) -> Tensor:
        return -logsigmoid(toward)


class ClassBalanced(ItemwiseObjective):
    """mean over items of w_y · cross-entropy, w_y ∝ (1 − β)/(1 − β^{n_y})   (Cui et al. 2019).

    ``counts`` are how many negatives and positives the training set has, in this order, and the two
    weights sum to 2; β = 0.9999 is the published choice for long tails (0 is plain cross-entropy,
    towards 1 it is inverse frequency). A list of one class counts, too.
    """

    class_weight: Tensor  # of the negatives and of the positives

    def __init__(self, counts: Counts, beta: float = 0.9999) -> None:
        super().__init__()
        values = checked_counts(counts)
        if len(values) != 2:
            raise ValueError(
                f"counts must be two, of the negatives and of the positives, got {len(values)}; "
                "for logits of several classes use LDAM or OneVsRest"
            )
        weights = effective_number_weights(values, beta)
        self.register_buffer("class_weight", weights, persistent=False)
        self.beta = beta

    def item_loss(self, toward: Tensor, positive: Tensor) -> Tensor:
        return -logsigmoid(toward) * self.class_weight.to(toward.dtype)[positive.long()]
