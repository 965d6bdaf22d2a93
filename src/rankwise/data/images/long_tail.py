"""Long tails made of any labeled set: an exponential profile, and positives made rare."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from rankwise.data.errors import DataError


def long_tail_counts(largest: int, classes: int, imbalance: float) -> list[int]:
    """Return n_c = ⌊n · μ^{c/(C−1)}⌋ with μ = 1/``imbalance``, at least one (Cui et al. 2019)."""
    if not (math.isfinite(imbalance) and imbalance >= 1):
        raise ValueError(f"imbalance must be a number >= 1, got {imbalance!r}")
    last = max(1, classes - 1)
    # A hair upwards: 100 · 100^{-1/2} is 10 and not 9.
    return [max(1, math.floor(largest * imbalance ** (-c / last) + 1e-9)) for c in range(classes)]


def long_tail_rows(labels: Tensor, classes: int, imbalance: float, seed: int) -> Tensor:
    """Return the rows of a long-tailed set: class 0 stays whole, the last one has n/imbalance.

    n is the size of the largest class; a class that has fewer images than its share keeps them
    all. Which ones are kept follows from the seed and the class alone.
    """
    sizes = torch.bincount(labels, minlength=classes).tolist()
    wanted = long_tail_counts(max(sizes, default=0), classes, imbalance)
    kept = [np.zeros(0, np.int64)]
    for number, most in enumerate(wanted):
        rows = (labels == number).nonzero().flatten().numpy()
        kept.append(np.random.default_rng((seed, number)).permutation(rows)[:most])
    return torch.from_numpy(np.sort(np.concatenate(kept)))


def rare_positive_rows(target: Tensor, share: float, seed: int) -> Tensor:
    """Return all negatives, and positives drawn by ``seed`` that make ``share`` of the whole."""
    if not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1, got {share!r}")
    positives = (target == 1).nonzero().flatten().numpy()
    negatives = (target == 0).nonzero().flatten().numpy()
    wanted = round(share / (1 - share) * len(negatives))
    if not 1 <= wanted <= len(positives):
        raise DataError(
            f"{wanted} positives beside {len(negatives)} negatives make a share of {share:g}, and "
            f"there are {len(positives)}"
        )
    drawn = np.random.default_rng(seed).permutation(positives)[:wanted]
    return torch.from_numpy(np.sort(np.concatenate([negatives, drawn])).astype(np.int64))


def as_binary(
    name: str, labels: Tensor, classes: tuple[str, ...], positive: tuple[str, ...]
) -> tuple[Tensor, tuple[str, str]]:
    """Return targets of some classes (1) against the rest (0), and the names of the two."""
    if unknown := [each for each in positive if each not in classes]:
        raise DataError(
            f"{name}: there is no class {', '.join(unknown)}; the classes are {', '.join(classes)}"
        )
    if not 0 < len(set(positive)) < len(classes):
        raise DataError(f"{name}: positive must be some of the classes, and not all of them")
    ids = torch.tensor([classes.index(each) for each in positive])
    return torch.isin(labels, ids).long(), ("rest", "+".join(positive))
