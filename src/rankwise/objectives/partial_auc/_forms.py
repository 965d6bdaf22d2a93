"""The three forms of a partial AUC, each a value of one positive against the negatives."""

from __future__ import annotations

from typing import Literal, get_args

from torch import nn

from rankwise.checks import require_count, require_one_of
from rankwise.objectives.partial_auc._cvar import CVaROverNegatives, require_hinge
from rankwise.objectives.partial_auc._kl import KLOverNegatives, temperature_for
from rankwise.objectives.partial_auc._selected import SelectedNegatives
from rankwise.pairs import Hinge, SquaredHinge, Surrogate, as_surrogate

Form = Literal["direct", "cvar", "kl"]


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


def over_negatives(
    form: Form,
    surrogate: Surrogate | str | None,
    fpr: tuple[float, float],
    *,
    temperature: float | None,
    num_items: int | None,
    ema_rate: float,
    threshold_rate: float,
) -> nn.Module:
    """Return the module from lists to the value of every positive, (lists, positives)."""
    if surrogate is None:
        surrogate = Hinge(1.0) if form == "kl" else SquaredHinge(1.0)
    surrogate = as_surrogate(surrogate)
    low, high = fpr
    if form == "direct":
        return SelectedNegatives(surrogate, low, high, rounded=True)
    if low != 0:
        raise ValueError(
            f"min_fpr must be 0 for form={form!r}, which uses the hardest negatives, "
            f"got {low!r}; form='direct' takes any range"
        )
    if form == "kl":
        temperature = temperature_for("temperature", temperature, high)
        return KLOverNegatives(surrogate, temperature, num_items, ema_rate)
    if num_items is None:
        return SelectedNegatives(require_hinge(surrogate), 0.0, high, rounded=False)
    return CVaROverNegatives(surrogate, high, num_items, threshold_rate)
