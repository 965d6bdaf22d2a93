"""Weights of classes by how many items they have."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["Counts", "checked_counts", "effective_number_weights"]

Counts = Sequence[float] | Tensor
"""How many items of each class the training set has, in the order of the classes."""


def checked_counts(counts: Counts) -> Tensor:
    """The counts as (classes,), at least two of them and none below one."""
    values = torch.as_tensor(counts, dtype=torch.float64)
    if (
        values.dim() != 1
        or len(values) < 2
        or not bool((values >= 1).all() & values.isfinite().all())
    ):
        raise ValueError(
            "counts must be the number of items of each of two or more classes, each >= 1, "
            f"got {counts!r}"
        )
    return values


def effective_number_weights(counts: Tensor, beta: float) -> Tensor:
    """(1 − β)/(1 − β^n) of every class, scaled to mean 1   (Cui et al. 2019)."""
    if not 0 <= beta < 1:
        raise ValueError(f"beta must be in [0, 1), got {beta!r}")
    base = torch.tensor(beta, dtype=torch.float64)
    weights = (1 - beta) / -torch.expm1(counts * base.log())
    return weights / weights.mean()
