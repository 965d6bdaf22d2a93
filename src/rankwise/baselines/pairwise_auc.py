"""The area under the ROC curve by pairs: AUC-Sigmoid and AUC-Huber."""

from __future__ import annotations

from rankwise.objectives.auc import PairwiseAUC
from rankwise.objectives.base import Reduction
from rankwise.pairs import OneSidedHuber, Sigmoid


class AUCSigmoid(PairwiseAUC):
    """Pairwise AUC loss with the sigmoid ℓ(x) = 1/(1 + e^(scale·x)).

    It is :class:`~rankwise.objectives.PairwiseAUC` with :class:`~rankwise.pairs.Sigmoid`.

    Args:
        scale: Steepness of the sigmoid.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import AUCSigmoid
        >>> AUCSigmoid()(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]))  # a tie
        tensor(0.5000)

    Reference:
        Calders and Jaroszewicz 2007, "Efficient AUC optimization for classification".
    """

    def __init__(self, scale: float = 1.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(Sigmoid(scale), reduction=reduction)


class AUCHuber(PairwiseAUC):
    """Pairwise AUC loss with the one-sided Huber loss of SOPRC and StableAP.

    ℓ(x) = 1 − 2x/τ for x < 0, (1 − x/τ)² for 0 ≤ x < τ, else 0: it is
    :class:`~rankwise.objectives.PairwiseAUC` with :class:`~rankwise.pairs.OneSidedHuber`.

    Args:
        tau: Margin τ.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import AUCHuber
        >>> AUCHuber()(torch.tensor([0.5, 0.0]), torch.tensor([1, 0]))  # (1 − 0.5)²
        tensor(0.2500)
    """

    def __init__(self, tau: float = 1.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(OneSidedHuber(tau), reduction=reduction)
