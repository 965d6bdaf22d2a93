"""Partial AUC over a range of false positive rates."""

from __future__ import annotations

from typing import Literal, get_args

from torch import nn

from rankwise.checks import require_count, require_fraction_range, require_one_of
from rankwise.lists import Lists
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.objectives.partial_auc._cvar import CVaROverNegatives, require_hinge
from rankwise.objectives.partial_auc._kl import KLOverNegatives, temperature_for
from rankwise.objectives.partial_auc._selected import SelectedNegatives
from rankwise.pairs import Hinge, SquaredHinge, Surrogate, as_surrogate

Form = Literal["direct", "cvar", "kl"]


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
        self.twice_differentiable = num_items is None
        if num_items is not None:
            self.memory_by, self.memory_size = "item", num_items
        if surrogate is None:
            surrogate = Hinge(1.0) if form == "kl" else SquaredHinge(1.0)
        surrogate = as_surrogate(surrogate)
        if form != "direct" and min_fpr != 0:
            raise ValueError(
                f"min_fpr must be 0 for form={form!r}, which uses the hardest negatives, "
                f"got {min_fpr!r}; form='direct' takes any range"
            )
        self.over_negatives: nn.Module
        if form == "kl":
            temperature = temperature_for("temperature", temperature, max_fpr)
            self.over_negatives = KLOverNegatives(surrogate, temperature, num_items, ema_rate)
        elif num_items is not None:
            self.over_negatives = CVaROverNegatives(surrogate, max_fpr, num_items, threshold_rate)
        else:
            rounded = form == "direct"
            surrogate = surrogate if rounded else require_hinge(surrogate)
            self.over_negatives = SelectedNegatives(surrogate, min_fpr, max_fpr, rounded=rounded)

    def risk(self, lists: Lists) -> Risk:
        values, updates = self.over_negatives(lists)
        return Risk(lists.mean_over_positives(values), updates)


def require_form(form: Form, *, num_items: int | None, **temperatures: float | None) -> None:
    """Raise on an unknown form, or an option of another form."""
    require_one_of("form", form, get_args(Form))
    if num_items is not None:
        require_count("num_items", num_items)
        if form == "direct":
            raise ValueError(
                "num_items is for form='cvar' or 'kl', "
                f"got num_items={num_items!r} and form='direct', which has nothing to remember"
            )
    for name, value in temperatures.items():
        if value is not None and form != "kl":
            raise ValueError(f"{name} is for form='kl', got {name}={value!r} and form={form!r}")
