"""Partial AUC with a least true positive rate and a largest false one."""

from __future__ import annotations

from torch import nn

from rankwise.lists import Lists
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.objectives.partial_auc._cvar import CVaROverPositives
from rankwise.objectives.partial_auc._forms import Form, over_negatives, require_form
from rankwise.objectives.partial_auc._kl import KLOverPositives, temperature_for
from rankwise.objectives.partial_auc._selected import SelectedPositives
from rankwise.pairs import Surrogate

__all__ = ["TwoWayPartialAUC"]


class TwoWayPartialAUC(Objective):
    """1 − AUC where TPR ≥ ``min_tpr`` and FPR ≤ ``max_fpr``: the lowest positives   (EXM 2.3.3).

    The forms are those of :class:`PartialAUC`, over the positives as over the negatives:

    - ``form="direct"``: the mean of ℓ over the ⌈n⁺(1 − min_tpr)⌉ lowest positives × the
      ⌊n⁻·max_fpr⌋ highest negatives, those of :func:`rankwise.metrics.two_way_partial_auroc`.
    - ``form="cvar"``: min_ν { ν + (1/α)·mean_P (v_i − ν)₊ }, α = 1 − ``min_tpr``, v_i the value of
      each positive in the one-way form: the mean of the largest of them, a share α.
    - ``form="kl"``: τ₁ log mean_P (mean_N exp(ℓ_ij/τ₂))^{τ₂/τ₁}, with ``temperature`` τ₂ and
      ``positive_temperature`` τ₁; by default those of the shares ``max_fpr`` and 1 − ``min_tpr``.

    With ``num_items`` the inner λ_i or mean_N is remembered by item as there, for ``cvar`` also v_i
    (at the rate ``ema_rate``), and the outer ν (steps of ``threshold_rate``) or mean_P (SOTA-s, at
    the rate ``positive_ema_rate``) beside them: one number for all lists, so that several lists
    have their hardest positives chosen together.

    The published SOTA-s is ``form="kl", surrogate=SquaredHinge(1.0), temperature=1.0,
    positive_temperature=1.0``.
    """

    def __init__(
        self,
        min_tpr: float,
        max_fpr: float,
        form: Form = "direct",
        *,
        surrogate: Surrogate | str | None = None,
        temperature: float | None = None,
        positive_temperature: float | None = None,
        num_items: int | None = None,
        ema_rate: float = 0.9,
        positive_ema_rate: float = 0.9,
        threshold_rate: float = 0.1,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if not 0 <= min_tpr < 1:
            raise ValueError(f"min_tpr must be in [0, 1), got {min_tpr!r}")
        if not 0 < max_fpr <= 1:
            raise ValueError(f"max_fpr must be in (0, 1], got {max_fpr!r}")
        require_form(
            form,
            num_items=num_items,
            temperature=temperature,
            positive_temperature=positive_temperature,
        )
        if num_items is not None:
            self.memory_by, self.memory_size = "item", num_items
        self.over_negatives = over_negatives(
            form,
            surrogate,
            (0.0, max_fpr),
            temperature=temperature,
            num_items=num_items,
            ema_rate=ema_rate,
            threshold_rate=threshold_rate,
        )
        self.over_positives: nn.Module
        if form == "kl":
            outer = temperature_for("positive_temperature", positive_temperature, 1 - min_tpr)
            self.over_positives = KLOverPositives(
                outer, None if num_items is None else positive_ema_rate
            )
        elif num_items is not None:
            self.over_positives = CVaROverPositives(
                1 - min_tpr, num_items, ema_rate=ema_rate, step=threshold_rate
            )
        else:
            self.over_positives = SelectedPositives(min_tpr, rounded=form == "direct")

    def risk(self, lists: Lists) -> Risk:
        values, updates = self.over_negatives(lists)
        risks, more = self.over_positives(values, lists)
        return Risk(risks, [*updates, *more])
