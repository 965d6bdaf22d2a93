"""Partial AUC over a range of false positive rates."""

from __future__ import annotations

from rankwise.checks import require_fraction_range
from rankwise.lists import Lists
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.objectives.partial_auc._forms import Form, over_negatives, require_form
from rankwise.pairs import Surrogate


class PartialAUC(Objective):
    """Loss for AUC where the false positive rate is between ``min_fpr`` and ``max_fpr``.

    - ``form="direct"``: the mean of ℓ(s_i − s_j) over all positives × the negatives ranked k₁+1 …
      k₂, those of :func:`rankwise.metrics.partial_auroc`; with ``"zero_one"`` it is 1 − that
      metric, ties counted as errors.
    - ``form="cvar"``: mean_P min_λ { λ_i + (1/β)·mean_N (ℓ_ij − λ_i)₊ }, β = ``max_fpr``: the mean
      of the largest losses of each positive, a share β of them. For the hinge and the squared
      hinge; it equals the direct form where β·n⁻ is whole, and otherwise counts one negative in
      part.
    - ``form="kl"``: mean_P τ log mean_N exp(ℓ_ij/τ), smooth: every negative counts, harder ones
      more.

    The hardest negatives of a batch are easier than those of the data set. With ``num_items``,
    ``cvar`` and ``kl`` remember what earlier batches showed of each positive: λ_i makes a step down
    its subgradient at each visit (SOPA); mean_N is averaged (SOPA-s), as logarithms, of which one
    visit forgets at most log 1/(1−γ): with a τ far below the losses, take γ near 1. The published
    SOPA-s is ``form="kl", surrogate="squared_hinge", temperature=1.0``.

    Args:
        max_fpr: Highest false positive rate, in (0, 1].
        min_fpr: Lowest false positive rate; 0 for ``cvar`` and ``kl``.
        form: ``"direct"``, ``"cvar"`` or ``"kl"``.
        surrogate: Pairwise loss ℓ, or its name. None is ``SquaredHinge(1.0)``, and ``Hinge(1.0)``
            for ``kl``, where one outlier dominates the exponential of a squared loss. For ``kl``
            these two take n log n, and other losses all pairs, in chunks.
        temperature: τ of ``kl``; a small one stands for a small range. None is 1/√(2 log
            1/max_fpr), right for losses whose spread is about 1; where it is given, ``max_fpr`` has
            no effect.
        num_items: Number of items of the data set, for the memory of ``cvar`` and ``kl``; the call
            then needs ``item_ids``. None keeps no memory.
        ema_rate: γ, the rate of the averages of ``kl``.
        threshold_rate: Step size of λ_i of ``cvar``.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PartialAUC
        >>> scores, target = torch.tensor([2.5, 3.0, 2.0, 1.0, 0.0]), torch.tensor([1, 0, 0, 0, 0])
        >>> PartialAUC(max_fpr=0.5, surrogate="zero_one")(scores, target)  # negatives 3 and 2
        tensor(0.5000)
        >>> PartialAUC(max_fpr=0.5, surrogate="hinge")(scores, target)  # (1.5 + 0.5)/2
        tensor(1.)

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.3; Zhu et al.
        2022, "When AUC meets DRO: Optimizing Partial AUC for Deep Learning with Non-Convex
        Convergence Guarantee".
    """

    def __init__(
        self,
        max_fpr: float,
        min_fpr: float = 0.0,
        form: Form = "direct",
        *,
        surrogate: Surrogate | str | None = None,
        temperature: float | None = None,
        num_items: int | None = None,
        ema_rate: float = 0.9,
        threshold_rate: float = 0.1,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_fraction_range("min_fpr", min_fpr, "max_fpr", max_fpr)
        require_form(form, num_items=num_items, temperature=temperature)
        if num_items is not None:
            self.memory_by, self.memory_size = "item", num_items
        self.over_negatives = over_negatives(
            form,
            surrogate,
            (min_fpr, max_fpr),
            temperature=temperature,
            num_items=num_items,
            ema_rate=ema_rate,
            threshold_rate=threshold_rate,
        )

    def risk(self, lists: Lists) -> Risk:
        values, updates = self.over_negatives(lists)
        return Risk(lists.mean_over_positives(values), updates)
