"""The position-based click model: examination by position, relevance without position bias.

P(click on i at position k) = θ_k · γ_i: a document is clicked if it is looked at, which depends on
its position, and relevant. Dividing clicks by θ_k makes their mean the relevance γ_i
(Joachims et al. 2017).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.errors import DataError
from rankwise.data.files import format_of, read_frame, require_columns
from rankwise.data.letor._clicks import Clicks, Vector
from rankwise.data.letor._letor import Letor

LEAST_PROPENSITY = 0.01
"""Smaller propensities count as this one: a click is worth at most 100 (clipped weights)."""

_STEPS, _TOLERANCE = 2_000, 1e-6


def estimate_propensities(clicks: Clicks) -> Vector:
    """Estimate how often each position is looked at, by expectation maximization.

    Documents that were shown at several positions tell positions apart: their clicks differ by the
    propensities alone. Logs of one fixed order cannot be used; those of several rankers, of an
    experiment, or with some swapped documents can.

    Args:
        clicks: The click log.

    Returns:
        θ of the positions 1, 2, … relative to the highest one, shape (positions,).

    Raises:
        DataError: If documents do not connect all positions.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data.letor import Clicks, estimate_propensities
        >>> rows, positions = np.array([0, 0]), np.array([1, 2])  # one document, two positions
        >>> log = Clicks(Path("log"), rows, positions, np.full(2, 100.0), np.array([40.0, 20.0]))
        >>> estimate_propensities(log).round(3).tolist()
        [1.0, 0.5]

    Reference:
        Wang et al. 2018, "Position Bias Estimation for Unbiased Learning to Rank in Personal
        Search", Eq. 1 and 2, with a relevance for every document; Agarwal et al. 2019, "Estimating
        Position Bias without Intrusive Interventions", for what identifies it.
    """
    documents, rows = np.unique(clicks.rows, return_inverse=True)
    places = clicks.positions - 1
    count = int(places.max()) + 1
    _require_connected(clicks, rows, places, len(documents), count)
    shown, clicked = clicks.shown, clicks.clicked
    by_place = np.bincount(places, shown, minlength=count)
    by_row = np.bincount(rows, shown, minlength=len(documents))
    examined = np.full(count, 0.5)
    relevant = np.full(len(documents), 0.5)
    for _ in range(_STEPS):
        theta, gamma = examined[places], relevant[rows]
        missed = (shown - clicked) / np.maximum(1 - theta * gamma, 1e-12)
        looked = clicked + missed * theta * (1 - gamma)
        wanted = clicked + missed * gamma * (1 - theta)
        before = examined
        examined = np.bincount(places, looked, minlength=count) / np.maximum(by_place, 1e-300)
        relevant = np.bincount(rows, wanted, minlength=len(documents)) / by_row
        if np.abs(examined - before).max() < _TOLERANCE:
            break
    relative: Vector = examined / examined.max()  # θ·c and γ/c have the same likelihood
    return relative


def _require_connected(
    clicks: Clicks, rows: NDArray[np.int64], places: NDArray[np.int64], documents: int, count: int
) -> None:
    """Raise where no chain of documents leads from one position to another."""
    seen = np.unique(places)  # not all positions up to the last, which may be far
    if len(seen) < count:
        unseen = int((seen != np.arange(len(seen))).argmax())
        raise DataError(
            f"{clicks.path}: no document was shown at position {unseen + 1}, but some were at "
            f"position {count}; positions count from 1 without gaps"
        )
    edges = sparse.coo_array(
        (np.ones(len(rows)), (places, count + rows)), shape=(count + documents,) * 2
    )
    parts = sparse.csgraph.connected_components(edges, directed=False)[1][:count]
    apart = np.flatnonzero(parts != parts[0])
    if len(apart):
        raise DataError(
            f"{clicks.path}: no document was shown both at position {apart[0] + 1} and at one that "
            "leads to position 1, so the log cannot tell their propensities apart; log some "
            "queries with swapped documents, or pass the propensities"
        )


def read_propensities(path: str | Path) -> Vector:
    """Read known propensities, such as those of a randomized experiment.

    Args:
        path: A csv or parquet file with the columns ``position`` (1, 2, …) and ``propensity``.

    Returns:
        θ of the positions 1, 2, …, in (0, 1].

    Raises:
        DataError: If a position is missing, or a propensity is not in (0, 1].

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.letor import read_propensities
        >>> path = Path(tempfile.mkdtemp()) / "propensities.csv"
        >>> _ = path.write_text("position,propensity\\n1,1\\n2,0.5\\n")
        >>> read_propensities(path).tolist()
        [1.0, 0.5]
    """
    path = Path(path)
    frame = read_frame(path, format_of(path), dates=False)
    require_columns(path, frame.columns, ("position", "propensity"), "propensity")
    frame = frame.sort("position")
    if frame["position"].to_list() != list(range(1, frame.height + 1)):
        raise DataError(f"{path}: position must be 1, 2, …, {frame.height}, each once")
    values = frame["propensity"].cast(float, strict=False).to_numpy().astype(np.float64)
    wrong = ~((values > 0) & (values <= 1))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"{path}: the propensity of position {row + 1} must be in (0, 1], got "
            f"{frame['propensity'][row]!r}"
        )
    return values


def with_clicks(lists: Letor, clicks: Clicks, propensities: Vector | None = None) -> Letor:
    """Return lists whose relevances are clicks without position bias.

    The relevance of a document is Σ clicks/θ over Σ shown, whose mean is its relevance γ. It enters
    losses that are linear in the relevances without bias: ``ndcg(gain=linear)`` and
    ``listnet(target_distribution=linear)``. Documents that were never shown are left out, as are
    queries without a click: nothing is known of them.

    Args:
        lists: The lists; their own relevances are not used.
        clicks: Their click log.
        propensities: θ of the positions 1, 2, …; None estimates them. Those of a log without
            position bias are all 1, which gives the click rates.

    Returns:
        The lists of the documents that were shown.

    Raises:
        DataError: If a document was shown at a position without propensity, or nothing was clicked.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data.letor import Clicks, Letor, with_clicks
        >>> features, groups = np.ones((2, 1), dtype=np.float32), np.zeros(2, dtype=np.int64)
        >>> lists = Letor(Path("lists"), features, np.zeros(2), groups, ("q",))
        >>> rows, positions = np.array([0, 1]), np.array([1, 2])
        >>> log = Clicks(Path("log"), rows, positions, np.full(2, 10.0), np.array([4.0, 2.0]))
        >>> with_clicks(lists, log, np.array([1.0, 0.5])).target.tolist()
        [0.4, 0.4]
    """
    theta = estimate_propensities(clicks) if propensities is None else propensities
    if clicks.positions.max() > len(theta):
        raise DataError(
            f"{clicks.path}: a document was shown at position {clicks.positions.max()}, and there "
            f"are propensities for {len(theta)} positions"
        )
    weight = clicks.clicked / np.maximum(theta[clicks.positions - 1], LEAST_PROPENSITY)
    shown = np.bincount(clicks.rows, clicks.shown, minlength=len(lists))
    found = np.bincount(clicks.rows, weight, minlength=len(lists)) / np.maximum(shown, 1e-300)
    clicked = np.bincount(lists.groups, found, minlength=len(lists.queries)) > 0
    if not clicked.any():
        raise DataError(f"{clicks.path}: nothing was clicked; there is nothing to learn")
    kept = np.flatnonzero((shown > 0) & clicked[lists.groups])
    queries, groups = np.unique(lists.groups[kept], return_inverse=True)
    return replace(
        lists,
        features=lists.features[kept],
        target=found[kept],
        groups=groups.astype(np.int64),
        queries=tuple(lists.queries[query] for query in queries.tolist()),
        documents=tuple(lists.document(row) for row in kept.tolist()),
    )
