"""The area under the ROC curve by the means and variances of the two classes."""

from __future__ import annotations

from typing import ClassVar, Literal

from torch import Tensor

from rankwise.checks import require_one_of, require_positive
from rankwise.lists import Lists
from rankwise.objectives.auc._moments import class_moments
from rankwise.objectives.base import Objective, Reduction

__all__ = ["CompositionalAUC", "Outer"]

Outer = Literal["squared_hinge", "square"]
"""f(t) = (t + c)₊² or (t + c)², c the margin."""


class CompositionalAUC(Objective):
    """mean_P (s − a)² + mean_N (s − b)² + f(mean_N s − mean_P s)   (EXM 2.3.1).

    a and b are at their optimum, the class means, so the first two terms are the variances of the
    classes: the gradient of the score is the same whether a and b follow the scores or stand still.
    ``f="square"`` is the pairwise loss with ``Square(margin)``; ``"squared_hinge"`` stops pushing
    the means apart once the margin is met and is the more robust. Linear time.

    f of a mean is not linear in the batch, so the hinge is biased where batches are small;
    :class:`~rankwise.objectives.auc.MinMaxAUC` is the same problem without that bias.
    """

    whole_positives: ClassVar[bool] = True
    whole_negatives: ClassVar[bool] = True

    def __init__(
        self, f: Outer = "squared_hinge", margin: float = 1.0, *, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        require_one_of("f", f, ("squared_hinge", "square"))
        require_positive("margin", margin)
        self.f, self.margin = f, margin

    def risk(self, lists: Lists) -> Tensor:
        above, below, spread = class_moments(lists)
        slack = below - above + self.margin
        if self.f == "squared_hinge":
            slack = slack.clamp_min(0)
        return spread.addcmul(slack, slack).to(lists.positive_weight.dtype)
