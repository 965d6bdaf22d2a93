"""How far the distribution of scores has moved."""

from __future__ import annotations

import numpy as np

from rankwise.checks import require_count
from rankwise.metrics.inputs import Array, NumpyArray, to_tensor


def population_stability_index(before: Array, after: Array, *, bins: int = 10) -> float:
    """Compute the population stability index of two sets of scores.

    PSI = Σ_b (q_b − p_b)·ln(q_b/p_b), p and q the shares of both sets in bins that hold equal
    shares of ``before``. Half an item is added to every bin, so that an empty one has a logarithm.
    Without any change its mean is about (bins − 1)·(1/n + 1/m), for n and m scores.

    Args:
        before, after: Scores of two sets of items, of any sizes.
        bins: Number of bins; fewer where scores are tied across their edges.

    Returns:
        The index, 0 for equal shares.

    Raises:
        ValueError: A set is empty or holds NaN, or there are fewer than two bins.

    Example:
        >>> import numpy as np
        >>> from rankwise.metrics import population_stability_index
        >>> before, after = np.arange(100.0), np.arange(100.0) + 20
        >>> round(population_stability_index(before, before), 4)
        0.0
        >>> round(population_stability_index(before, after, bins=2), 4)  # 50 and 50 to 30 and 70
        0.1659

    Reference:
        Yurdakul 2018, "Statistical Properties of Population Stability Index".
    """
    require_count("bins", bins)
    if bins < 2:
        raise ValueError(f"bins must be at least 2, got {bins}")
    both = []
    for name, scores in (("before", before), ("after", after)):
        values = to_tensor(scores).double().flatten().cpu().numpy()
        if not len(values) or bool(np.isnan(values).any()):
            raise ValueError(f"{name} must hold scores without NaN, got {len(values)} values")
        both.append(values)
    edges = bin_edges(both[0], bins)
    shares = []
    for values in both:
        # A score on an edge belongs to the bin below it, as in the quantile.
        place = np.searchsorted(edges, values, side="left")
        counts = np.bincount(place, minlength=len(edges) + 1) + 0.5
        shares.append(counts / counts.sum())
    p, q = shares
    return float(((q - p) * np.log(q / p)).sum())


def bin_edges(values: NumpyArray, bins: int) -> NumpyArray:
    """Return the distinct scores that end bins with equal shares, without the last."""
    ends = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
    return np.unique(ends[ends < values.max()])
