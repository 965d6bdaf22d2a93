"""Fewer dimensions, by principal components or by UMAP, as the option ``--reduction`` names it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from rankwise.data import DataError

__all__ = ["REDUCTIONS", "reducer"]

Array = NDArray[np.float64]
Reducer = Callable[[Array, int, int], Array]


def reducer(name: str) -> Reducer:
    """Return the reduction ``"pca"`` or ``"umap"``: from rows, dimensions and a seed to rows.

    UMAP that is not installed is an error here, before anything is read or computed.
    """
    found = REDUCTIONS.get(name)
    if found is None:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}, got {name!r}")
    if found is _manifold:
        _umap()
    return found


def _components(rows: Array, dimensions: int, seed: int) -> Array:
    found: Array = PCA(min(dimensions, *rows.shape), random_state=0).fit_transform(rows)
    return found


def _manifold(rows: Array, dimensions: int, seed: int) -> Array:
    """UMAP with the settings of the code of the pAp@k paper's authors (stair-lab/pap-k)."""
    found = _umap().UMAP(
        n_neighbors=10,
        min_dist=0.5,
        n_components=dimensions,
        metric="euclidean",
        random_state=seed,
    )
    return np.asarray(found.fit_transform(rows), dtype=np.float64)


def _umap() -> ModuleType:
    try:
        return import_module("umap")
    except ModuleNotFoundError:
        raise DataError(
            "--reduction umap needs umap-learn, which is not installed: pip install umap-learn, "
            "or take --reduction pca"
        ) from None


REDUCTIONS: dict[str, Reducer] = {"pca": _components, "umap": _manifold}
