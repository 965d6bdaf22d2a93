"""The recall at a precision."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._prior import odds, require_prior
from rankwise.objectives._scaled import ScaledObjective, ScoreScale
from rankwise.objectives.base import Reduction
from rankwise.objectives.operating_point._threshold import negative_at, require_inside
from rankwise.pairs import Sigmoid, Surrogate, as_surrogate, pair_sum
from rankwise.pairs.rows import accumulating

_ROUNDING = 1e-10


class RecallAtPrecision(ScaledObjective):
    """Loss for the recall where the precision is at least ``min_precision``.

    mean_{i∈P} ℓ(s_i − q), q the (k + 1)-th highest negative, where k are the false positives of the
    lowest threshold whose precision is at least ``min_precision``, 0 where none has it. With
    ``"zero_one"`` it is 1 − :func:`rankwise.metrics.recall_at_precision`, so every ℓ ≥ ℓ₀₁ bounds
    that from above. k is counted anew in every call and has no gradient; that of q is that of the
    negative it is, and tied ones share it. The better the ranking, the more false positives the
    precision allows. A list whose precision suffices with every row flagged has the loss 0.

    Args:
        min_precision: Lowest precision, between 0 and 1.
        surrogate: Pairwise loss ℓ, or its name. The default is bounded, so that items far from the
            threshold, which cannot be moved across it, do not decide; it does not bound ℓ₀₁.
        prior: Share of positives in the data set. None takes that of the list.
        score_scale: Number that scores are divided by, or ``"auto"``, their spread: with a number,
            scores that shrink to a constant can have a lower loss.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import RecallAtPrecision
        >>> scores = torch.tensor([3.5, 2.5, 1.0, 3.0, 2.0, 0.5])
        >>> target = torch.tensor([1, 1, 1, 0, 0, 0])
        >>> # 2 of the first 3 are positive: one negative may be above, and q = 2
        >>> RecallAtPrecision(0.65, "zero_one")(scores, target)
        tensor(0.3333)

    Reference:
        Eban et al. 2017, "Scalable Learning of Non-Decomposable Objectives"; Yang 2022,
        "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.
    """

    def __init__(
        self,
        min_precision: float,
        surrogate: Surrogate | str = Sigmoid(5.0),  # noqa: B008  (surrogates are frozen)
        *,
        prior: float | None = None,
        score_scale: ScoreScale = "auto",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(score_scale, reduction=reduction)
        require_inside("min_precision", min_precision)
        require_prior(prior)
        self.min_precision, self.surrogate = min_precision, as_surrogate(surrogate)
        self.prior = prior

    def risk(self, lists: Lists) -> Tensor:
        allowed = self._allowed(lists.detached())
        missed = pair_sum(self.surrogate, lists.positives, negative_at(lists, allowed))
        every = allowed >= accumulating(lists.n_negatives) * (1 - _ROUNDING)
        return lists.mean_over_positives(missed.masked_fill(every, 0))

    @torch.no_grad()
    def _allowed(self, lists: Lists) -> Tensor:
        """Return the mass of negatives above the lowest threshold of this precision, (lists, 1)."""
        ranked, order = lists.scores.sort(dim=-1, descending=True)
        weight = accumulating(lists.weight).gather(-1, order)
        positive = order < lists.positives.shape[-1]
        true = weight.masked_fill(~positive, 0).cumsum(-1)
        false = weight.masked_fill(positive, 0).cumsum(-1)
        # A threshold lies between distinct scores: the last item of each.
        last = torch.nn.functional.pad(ranked[:, 1:] != ranked[:, :-1], (0, 1), value=True)
        counted = true + false * accumulating(torch.as_tensor(odds(lists, self.prior)))
        enough = last & (true >= (self.min_precision - _ROUNDING) * counted)
        return torch.where(enough, false, 0).amax(-1, keepdim=True)
