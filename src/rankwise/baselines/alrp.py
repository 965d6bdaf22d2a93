"""The aLRP loss of one-stage detectors: where a box is becomes a part of how it is ranked."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from rankwise.baselines.detection import ErrorDrivenStep, ranks
from rankwise.checks import require_list_dimension, require_tensor, require_values
from rankwise.eager import eager_only, first_gradient_only
from rankwise.lists import split_lists
from rankwise.memory import MovingAverage
from rankwise.objectives._arguments import warn_of_one_class
from rankwise.objectives._batch import Batch
from rankwise.pairs import pair_sum

_NO_ERRORS = 1e-5  # negatives above a positive below which it counts as well ranked
_SMOOTHING = 0.01  # rate of the moving averages of the balance


class ALRPParts(NamedTuple):
    """The two parts of the loss, whose sum is minimized."""

    ranking: Tensor
    localization: Tensor


class ALRP(nn.Module):
    """aLRP loss of one-stage detectors: ranking and localization in one loss.

    The loss is mean_{i∈P} (F_i + E_i + Σ_{k∈P, k≠i} E_k·H(s_k − s_i))/rank_i. F_i = Σ_{j∈N} H(s_j −
    s_i) counts the negatives above i, rank_i = 1 + Σ_{k≠i} H(s_k − s_i) all items above it, with H
    as in :class:`~rankwise.baselines.ErrorDrivenAP`; E in [0, 1] is the localization error of each
    positive, (1 − GIoU)/2 in detection. The ranking part is F_i/rank_i; its gradient is
    error-driven, with E_i/rank_i as the target: a positive goes up by (F_i + Σ_{k≠i} E_k·H)/rank_i,
    its negatives down by their share H/F_i of that. The rest is the localization part, which has a
    gradient in E alone.

    Args:
        delta: Half width δ of the step H; 1 in the authors' code (kemaloksuz/aLRPLoss,
            ``alrp_loss.py``).
        balanced: Whether the localization part is multiplied by (whole loss)/(localization part),
            without gradient, so that it keeps its weight while the ranks are bad. The paper uses
            the averages of the last epoch; here they are moving averages in a buffer, ``balance``.

    Example:
        >>> import torch
        >>> from rankwise.baselines.alrp import ALRP
        >>> scores, target = torch.tensor([3.0, 0.0, -3.0]), torch.tensor([0, 1, 0])
        >>> ranking, localization = ALRP(balanced=False)(scores, target, torch.tensor([0.5]))
        >>> ranking, localization  # rank 2: 1/2 and 0.5/2
        (tensor(0.5000), tensor(0.2500))

    Reference:
        Oksuz et al. 2020, "A ranking-based, balanced loss function unifying classification and
        localisation in object detection".
    """

    warned_of_one_class: bool = False

    def __init__(self, delta: float = 1.0, *, balanced: bool = True) -> None:
        super().__init__()
        self.step = ErrorDrivenStep(delta)
        self.balance = MovingAverage(1, 2, ema_rate=_SMOOTHING) if balanced else None

    @eager_only
    def forward(self, scores: Tensor, target: Tensor, errors: Tensor) -> ALRPParts:
        """Compute both parts of the loss of one list.

        Args:
            scores: Shape (n,).
            target: 0/1 labels, shape (n,).
            errors: Localization errors of the positives, in their order.

        Returns:
            Both parts; 0 with a graph where there is no positive, and the first time a
            ``RuntimeWarning``.
        """
        require_tensor("scores", scores)
        require_values("scores", scores)
        require_list_dimension(scores, None)
        if scores.dim() != 1:
            raise ValueError(f"scores must be one list, shape (n,), got {tuple(scores.shape)}")
        scores = first_gradient_only(scores, "ALRP")
        with torch.autocast(scores.device.type, enabled=False):
            lists = split_lists(scores.unsqueeze(0), target.unsqueeze(0))
            n_positives = lists.positives.shape[-1]
            if errors.shape != (n_positives,):
                raise ValueError(
                    f"errors must be one per positive, shape ({n_positives},), "
                    f"got {tuple(errors.shape)}"
                )
            errors = errors.to(lists.positive_weight.dtype).unsqueeze(0)
            if n_positives == 0:
                if not self.warned_of_one_class:
                    self.warned_of_one_class = True
                    batch = Batch(scores.unsqueeze(0), target.unsqueeze(0))
                    warn_of_one_class("ALRP", [batch], graded=False)
                return ALRPParts(scores[:0].sum(dtype=errors.dtype), errors.sum())
            right, above = ranks(self.step, lists)
            missed = above.detach()
            rank = right + missed
            positives = lists.positives.detach()
            # The sum contains H(0) = ½ of the item itself.
            others = pair_sum(self.step, positives, positives, weight=errors) - errors / 2
            wrong = missed > _NO_ERRORS
            lost = torch.where(wrong, (missed + others.detach()) / missed, 0) / rank
            moved = (lost * above).mean()
            ranking = moved + ((missed / rank).mean() - moved).detach()
            localization = ((errors + others) / rank).mean()
            return ALRPParts(ranking, self._balanced(ranking, localization))

    def _balanced(self, ranking: Tensor, localization: Tensor) -> Tensor:
        if self.balance is None:
            return localization
        parts = torch.stack([ranking + localization, localization]).detach().unsqueeze(0)
        row = torch.zeros(1, dtype=torch.long, device=parts.device)
        whole, part = self.balance.update(row, parts)[0].unbind()
        return localization * torch.where(part > 0, whole / part, 1).to(localization.dtype)
