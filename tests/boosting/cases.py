"""Rows and a plain finite difference that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwise.boosting.rows import Floats, Rows


def ranked(n: int = 60, rate: float = 0.25, seed: int = 0, *, weight: bool = False) -> tuple:
    """Logits of rows with some signal, and the rows."""
    rng = np.random.default_rng(seed)
    target = (rng.random(n) < rate).astype(float)
    target[:2] = 0, 1
    scores = rng.normal(size=n) + 1.5 * target - 1
    weights = rng.integers(1, 4, n).astype(float) if weight else None
    return scores, Rows(target, weights)


def differences(f: Callable[[Floats], float], at: Floats, step: float = 1e-5) -> Floats:
    """∂f/∂s by central differences."""
    found = np.empty(len(at))
    for place in range(len(at)):
        move = np.zeros(len(at))
        move[place] = step
        found[place] = (f(at + move) - f(at - move)) / (2 * step)
    return found


def second_differences(f: Callable[[Floats], float], at: Floats, step: float = 1e-3) -> Floats:
    """∂²f/∂s² of every score."""
    found = np.empty(len(at))
    for place in range(len(at)):
        move = np.zeros(len(at))
        move[place] = step
        found[place] = (f(at + move) - 2 * f(at) + f(at - move)) / step**2
    return found
