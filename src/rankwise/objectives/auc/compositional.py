"""AUC from the means and variances of the two classes."""

from __future__ import annotations

from typing import ClassVar, Literal

from torch import Tensor

from rankwise.checks import require_one_of, require_positive
from rankwise.lists import Lists
from rankwise.objectives.auc._moments import class_moments
from rankwise.objectives.base import Objective, Reduction

Outer = Literal["squared_hinge", "square"]
"""f(t) = (t + c)₊² or (t + c)², c the margin."""


class CompositionalAUC(Objective):
    """Loss for AUC from the means and variances of the two classes, in linear time.

    mean_P (s − a)² + mean_N (s − b)² + f(mean_N s − mean_P s) with a and b at their optimum, the
    class means: the first two terms are the variances of the classes. f of a mean is not linear in
    the batch, so the hinge is biased where batches are small; :class:`MinMaxAUC` is the same
    problem without that bias.

    Args:
        f: ``"square"`` is f(t) = (t + c)², the same as ``PairwiseAUC(Square(c))``.
            ``"squared_hinge"`` is (t + c)₊², which stops pushing the means apart once the margin is
            met; it is the more robust one.
        margin: The margin c.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import CompositionalAUC, PairwiseAUC
        >>> scores, target = torch.tensor([2.0, 1.0, 1.0, 0.0]), torch.tensor([1, 1, 0, 0])
        >>> CompositionalAUC()(scores, target)  # variances 0.25 and 0.25, the means are 1 apart
        tensor(0.5000)
        >>> PairwiseAUC("square")(scores, target)
        tensor(0.5000)

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.1.
    """

    twice_differentiable = True
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
