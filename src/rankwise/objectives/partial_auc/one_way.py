"""Partial AUC over a range of false positive rates."""

from __future__ import annotations

from rankwise.checks import require_fraction_range
from rankwise.lists import Lists
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.objectives.partial_auc._forms import Form, over_negatives, require_form
from rankwise.pairs import Surrogate

__all__ = ["PartialAUC"]


class PartialAUC(Objective):
    """1 − AUC where the false positive rate is from ``min_fpr`` to ``max_fpr``   (EXM 2.3.3).

    - ``form="direct"``: the mean of ℓ(s_i − s_j) over all positives × the negatives ranked k₁+1 …
      k₂, those of :func:`rankwise.metrics.partial_auroc`; with ``ZeroOne`` it is 1 − that metric,
      ties against the ranking.
    - ``form="cvar"``: mean_P min_λ { λ_i + (1/β)·mean_N (ℓ_ij − λ_i)₊ }, β = ``max_fpr``: the mean
      of the largest losses of each positive, a share β of them. For the hinge and the squared
      hinge; it is the direct form where β·n⁻ is whole, and else counts one negative in part.
    - ``form="kl"``: mean_P τ log mean_N exp(ℓ_ij/τ), smooth: every negative counts, the harder the
      more. A small ``temperature`` τ stands for a small range: the maximum at 0, the mean at ∞. By
      default τ = 1/√(2 log 1/max_fpr), right for losses whose spread is about 1 (.47 for .1, .64
      for .3); where it is given, ``max_fpr`` does nothing.

    The hardest negatives of a batch are easier than those of the data set. With ``num_items``, the
    number of items of the data set, ``cvar`` and ``kl`` remember what the batches showed of each
    positive, ``item_ids`` being one id per item: λ_i makes a step of ``threshold_rate`` down its
    subgradient at each visit (SOPA); mean_N is averaged at the rate ``ema_rate`` (SOPA-s), as
    logarithms, of which one visit forgets no more than log 1/(1−γ): with a τ far below the
    losses, take γ near 1.

    ``surrogate`` is by default ``SquaredHinge(1.0)``, and ``Hinge(1.0)`` for ``kl``, where e to a
    squared loss is one outlier's. There these two take n log n, and any other loss all pairs, in
    chunks. The published SOPA-s is ``surrogate=SquaredHinge(1.0), temperature=1.0``.
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
