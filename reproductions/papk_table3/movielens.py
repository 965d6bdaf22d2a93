"""MovieLens as the paper has it: factors of the first ratings, the later ones as instances."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from rankwise.data import DataError
from rankwise.data.interactions import Interactions, read_interactions
from reproductions.papk_table3.instances import Instances, crossed

Factors = tuple[NDArray[np.float64], NDArray[np.float64]]
Factorize = Callable[[NDArray[np.float64], int, int], Factors]

FIRST, FACTORS, LEAST, LIKED = 20, 30, 20, 5.0


def read_movielens(path: Path, seed: int = 0) -> Instances:
    """The instances of ``u.data`` or of RecBole's ``ml-100k.inter``."""
    return movielens(read_interactions(path), seed)


def movielens(
    ratings: Interactions,
    seed: int = 0,
    *,
    first: int = FIRST,
    factors: int = FACTORS,
    least: int = LEAST,
    factorize: Factorize | None = None,
) -> Instances:
    """Section 7.3.1: the first ratings of every user give the factors, the rest the rows.

    Items without a rating among the first ones have no factors and are left out, then users with
    fewer than ``least`` rows: with 100K ratings this leaves the paper's 638 users. ``factorize``:
    another way from the table of ratings, 0 where there is none, to the features.
    """
    if ratings.time is None:
        raise DataError(f"{ratings.path}: has no times, so nobody's first {first} ratings")
    early = _place(ratings) < first
    table = np.zeros((len(ratings.users), len(ratings.items)))
    table[ratings.user[early], ratings.item[early]] = ratings.value[early]
    known = np.asarray(table.any(0))
    later = ~early & known[ratings.item]
    rows_of = np.bincount(ratings.user[later], minlength=len(table))
    later &= rows_of[ratings.user] >= least
    if not later.any():
        raise DataError(
            f"{ratings.path}: no user has {least} ratings after the first {first} of items that "
            "others rated early"
        )
    by_user, by_item = (factorize or _factors)(table[:, known], factors, seed)
    item = (np.cumsum(known) - 1)[ratings.item[later]]
    user = ratings.user[later]
    return Instances(
        "Movielens",
        crossed(by_user[user], by_item[item]),
        ratings.value[later] >= LIKED,
        np.unique(user, return_inverse=True)[1].astype(np.int64),
        f"The first {first} ratings of every user by time fill a matrix, of which a non-negative "
        f"factorization (Lee and Seung's updates) gives {factors} features of users and items; "
        f"later ratings of items with features are the instances, label 1 for a 5; users with "
        f"fewer than {least} are left out.",
    )


def _place(ratings: Interactions) -> NDArray[np.int64]:
    """How many ratings of the same user came before, by time and then as in the file."""
    assert ratings.time is not None
    order = np.lexsort((np.arange(len(ratings)), ratings.time, ratings.user))
    ranked = ratings.user[order]
    place = np.empty(len(ranked), dtype=np.int64)
    place[order] = np.arange(len(ranked)) - np.searchsorted(ranked, ranked)
    return place


def _factors(table: NDArray[np.float64], factors: int, seed: int) -> Factors:
    model = NMF(factors, solver="mu", init="nndsvda", max_iter=500, random_state=seed)
    with warnings.catch_warnings():
        # The paper does not say where it stops either.
        warnings.simplefilter("ignore", ConvergenceWarning)
        users = model.fit_transform(table)
    return users, model.components_.T
