"""Start of the vectors of users and items at the singular vectors of their interactions."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from rankwise.tasks.recommendation.network import START, Recommender
from rankwise.tasks.recommendation.problem import Pairs

_NOISE = 0.1  # share of the random start that is kept, which separates rows that are equal
_ITERATIONS = 4  # of the power method: more change the result by less than the noise


@torch.no_grad()
def start_at_singular_vectors(network: Recommender, pairs: Pairs, seed: int) -> None:
    """Replace the random vectors of a network by those of a truncated singular value decomposition.

    The matrix is D_u^(−½) X D_i^(−½), with X the interactions and D the degrees of users and items.
    Rows of U√Σ and V√Σ are scaled to the length of the random start. An id without an interaction
    keeps its random vector. The decomposition is a randomized one (Halko et al. 2011).
    """
    users, items = singular_vectors(pairs, network.users.ids.embedding_dim, seed)
    sides = (network.users.ids, users, pairs), (network.items.ids, items, pairs.transposed())
    for table, found, own in sides:
        length = START * math.sqrt(table.embedding_dim)
        moved = _NOISE * table.weight + length * nn.functional.normalize(found, dim=1)
        table.weight.copy_(torch.where(own.counts.unsqueeze(1) > 0, moved, table.weight))


def singular_vectors(pairs: Pairs, dimension: int, seed: int) -> tuple[Tensor, Tensor]:
    """U√Σ and V√Σ of the interactions over the roots of the degrees; further columns are 0."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415  (an import of most of a second)
    from sklearn.utils.extmath import randomized_svd  # noqa: PLC0415

    degrees = pairs.counts, pairs.transposed().counts
    value = (degrees[0][pairs.users] * degrees[1][pairs.items]).double().rsqrt().float()
    matrix = csr_matrix(
        (value.numpy(), pairs.items.numpy(), pairs.start.numpy()),
        shape=(pairs.n_users, pairs.n_items),
    )
    width = min(dimension, *matrix.shape)
    left, size, right = randomized_svd(matrix, width, n_iter=_ITERATIONS, random_state=seed)
    root = np.sqrt(size)
    padding = (0, dimension - width)
    sides = (torch.from_numpy((side * root).astype(np.float32)) for side in (left, right.T))
    users, items = (nn.functional.pad(side, padding) for side in sides)
    return users, items
