"""Partial AUC with a lowest true positive rate and a highest false positive rate."""

from __future__ import annotations

from torch import nn

from rankwise.checks import is_finite
from rankwise.lists import Lists
from rankwise.metrics.auc import check_both_ways
from rankwise.objectives.base import Reduction, Risk
from rankwise.objectives.partial_auc._cvar import CVaROverPositives
from rankwise.objectives.partial_auc._kl import KLOverPositives, temperature_for
from rankwise.objectives.partial_auc._selected import SelectedPositives
from rankwise.objectives.partial_auc.one_way import Form, PartialAUC, require_form
from rankwise.pairs import Surrogate


class TwoWayPartialAUC(PartialAUC):
    """Loss for AUC where TPR ≥ ``min_tpr`` and FPR ≤ ``max_fpr``.

    The forms are those of :class:`PartialAUC`, over the positives as over the negatives:

    - ``form="direct"``: the mean of ℓ over the ⌈n⁺(1 − min_tpr)⌉ lowest positives × the
      ⌊n⁻·max_fpr⌋ highest negatives, those of :func:`rankwise.metrics.two_way_partial_auroc`.
    - ``form="cvar"``: min_ν { ν + (1/α)·mean_P (v_i − ν)₊ }, α = 1 − ``min_tpr``, v_i the value of
      each positive in the one-way form: the mean of the largest of them, a share α.
    - ``form="kl"``: τ₁ log mean_P (mean_N exp(ℓ_ij/τ₂))^{τ₂/τ₁}.

    With ``num_items`` the inner λ_i or mean_N is remembered by item, for ``cvar`` also v_i. The
    outer ν or mean_P (SOTA-s) is remembered as one number for all lists, so that the hardest
    positives of several lists are chosen together. The published SOTA-s is ``form="kl",
    surrogate="squared_hinge", temperature=1.0, positive_temperature=1.0``.

    Args:
        min_tpr: Lowest true positive rate, in [0, 1).
        max_fpr: Highest false positive rate, in (0, 1].
        form: ``"direct"``, ``"cvar"`` or ``"kl"``.
        surrogate: Pairwise loss ℓ, or its name; None as in :class:`PartialAUC`.
        temperature: τ₂ of ``kl``, of the negatives; None chooses it by ``max_fpr``.
        positive_temperature: τ₁ of ``kl``, of the positives; None chooses it by 1 − ``min_tpr``.
        num_items: Number of items of the data set, for the memory of ``cvar`` and ``kl``; the call
            then needs ``item_ids``. None keeps no memory.
        ema_rate: Rate of the averages by item.
        positive_ema_rate: Rate of the average of mean_P of ``kl``.
        threshold_rate: Step size of λ_i and ν of ``cvar``.
        printed: Whether ``direct`` has the ⌊n⁺(1 − min_tpr)⌋ lowest positives, at least one, as EXM
            prints the loss. Its estimator of the metric is printed with ⌈·⌉, the default.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import TwoWayPartialAUC
        >>> scores = torch.tensor([4.0, 1.0, 3.0, 2.0, 0.0, -1.0])
        >>> target = torch.tensor([1, 1, 0, 0, 0, 0])
        >>> loss = TwoWayPartialAUC(min_tpr=0.5, max_fpr=0.5, surrogate="hinge")
        >>> loss(scores, target)  # the positive 1 and the negatives 3 and 2: (3 + 2)/2
        tensor(2.5000)
        >>> target = torch.tensor([1, 1, 1, 0, 0, 0])  # half of three positives: 2, or 1 as printed
        >>> loss = TwoWayPartialAUC(min_tpr=0.5, max_fpr=0.5, surrogate="hinge", printed=True)
        >>> loss(scores, target)  # the positive 1 and the negative 2
        tensor(2.)

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.3; Zhu et al.
        2022, "When AUC meets DRO: Optimizing Partial AUC for Deep Learning with Non-Convex
        Convergence Guarantee".
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
        printed: bool = False,
        reduction: Reduction = "mean",
    ) -> None:
        check_both_ways(min_tpr, max_fpr)
        require_form(form, num_items=num_items, positive_temperature=positive_temperature)
        if printed and form != "direct":
            raise ValueError(
                f"printed is for form='direct', got printed=True and form={form!r}, which takes a "
                "share of the positives and does not round"
            )
        super().__init__(
            max_fpr,
            form=form,
            surrogate=surrogate,
            temperature=temperature,
            num_items=num_items,
            ema_rate=ema_rate,
            threshold_rate=threshold_rate,
            reduction=reduction,
        )
        self.over_positives: nn.Module
        if form == "kl":
            outer = temperature_for("positive_temperature", positive_temperature, 1 - min_tpr)
            if not (is_finite(positive_ema_rate) and 0 < positive_ema_rate <= 1):
                raise ValueError(f"positive_ema_rate must be in (0, 1], got {positive_ema_rate!r}")
            self.over_positives = KLOverPositives(
                outer, None if num_items is None else positive_ema_rate
            )
        elif num_items is not None:
            self.over_positives = CVaROverPositives(
                1 - min_tpr, num_items, ema_rate=ema_rate, step=threshold_rate
            )
        else:
            self.over_positives = SelectedPositives(
                min_tpr, rounding=None if form != "direct" else "down" if printed else "up"
            )

    def risk(self, lists: Lists) -> Risk:
        values, updates = self.over_negatives(lists)
        risks, more = self.over_positives(values, lists)
        return Risk(risks, [*updates, *more])
