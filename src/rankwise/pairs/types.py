"""Words shared by the functions of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from torch import Tensor

from rankwise.pairs.surrogates import Surrogate

__all__ = ["Method", "PairFunction"]

Method = Literal["auto", "sorted", "exponential", "dense"]
PairFunction = Surrogate | Callable[[Tensor], Tensor]
"""A surrogate, or any elementwise function of the differences."""
