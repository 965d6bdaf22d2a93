"""The share of positives of the data set, where a batch has another."""

from __future__ import annotations

from torch import Tensor

from rankwise.checks import is_finite
from rankwise.lists import Lists


def require_prior(prior: float | None, name: str = "prior", of: str = "in the data set") -> None:
    """Raise on a prior that is not a share."""
    if prior is not None and (not is_finite(prior) or isinstance(prior, bool) or not 0 < prior < 1):
        raise ValueError(
            f"{name} must be in (0, 1), got {prior!r}; pass the share of positives {of}"
        )


def require_unlabeled_prior(prior: float) -> None:
    """Raise unless the share of positives among the unlabeled items is one."""
    require_prior(prior if prior is not None else float("nan"), of="among the unlabeled items")


def odds(lists: Lists, prior: float | None) -> Tensor | float:
    """Return what a negative of the list counts, in positives: 1 without a prior, (lists, 1)."""
    if prior is None:
        return 1.0
    return (1 - prior) / prior * lists.n_positives / lists.n_negatives
