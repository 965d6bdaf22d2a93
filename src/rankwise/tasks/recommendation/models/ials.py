"""Implicit alternating least squares: factors by a quadratic loss over all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

import torch
from torch import Tensor

from rankwise.tasks.recommendation.catalog import Scores
from rankwise.tasks.recommendation.model import ClosedForm
from rankwise.tasks.recommendation.problem import Pairs
from rankwise.tasks.recommendation.settings import Settings

ITERATIONS = (2, 4, 8, 16)  # among which validation chooses
_ENTRIES = 1 << 22  # of the vectors and matrices in memory at a time


class IALS(ClosedForm):
    """Vectors of users and items by alternating least squares (Hu et al. 2008).

    They minimize, by turns for the users w_u and the items h_i,

    Σ_{(u,i) observed} (⟨w_u, h_i⟩ − 1)² + α₀ Σ_{u,i} ⟨w_u, h_i⟩²
    + λ Σ_u (|I_u| + α₀|I|)^ν ‖w_u‖² + λ Σ_i (|U_i| + α₀|U|)^ν ‖h_i‖²

    as in Rendle et al. 2022: ν = 1 scales the regularization by frequency, ν = 0 is
    the same for all. The sum over all pairs costs one Gram matrix per turn.
    """

    grid: ClassVar[dict[str, tuple[float, ...]]] = {
        "regularization": (0.003, 0.01, 0.03, 0.1),
        "unobserved_weight": (0.03, 0.1, 0.3, 1.0),
    }
    users: Tensor
    items: Tensor

    def __init__(self, learned: Pairs, settings: Settings) -> None:
        super().__init__(learned, settings)
        self.register_buffer("users", torch.zeros(learned.n_users, settings.dimension))
        self.register_buffer("items", torch.zeros(learned.n_items, settings.dimension))

    @classmethod
    def options(cls) -> tuple[str, ...]:
        return (*cls.grid, "iterations")

    @classmethod
    def fits(cls, train: Pairs, settings: Settings) -> Iterator[tuple[Settings, Self]]:
        by_item = train.transposed()
        generator = torch.Generator().manual_seed(settings.seed)
        shape, spread = (train.n_items, settings.dimension), 0.1 / settings.dimension**0.5
        items = spread * torch.randn(shape, generator=generator, dtype=torch.float64)
        wanted = ITERATIONS if settings.iterations is None else (settings.iterations,)
        for iteration in range(1, max(wanted) + 1):
            users = solved(train, items, settings)
            items = solved(by_item, users, settings)
            if iteration in wanted:
                made = cls(train, settings)
                made.users.copy_(users)
                made.items.copy_(items)
                yield settings.replace(iterations=iteration), made

    def scores(self) -> Scores:
        return Scores(self.users.__getitem__, self.items)


def solved(pairs: Pairs, others: Tensor, settings: Settings) -> Tensor:
    """The vectors of one side that are best for those of the other, each by a linear system."""
    size, weight = others.shape[1], settings.unobserved_weight or 0.0
    gram = weight * others.T @ others
    strength = (pairs.counts + weight * pairs.n_items) ** settings.frequency_exponent
    diagonal = (settings.regularization or 0.0) * strength
    found = others.new_zeros(pairs.n_users, size)
    left = pairs.counts.argsort(descending=True)  # alike in number: little padding
    left = left[: int((pairs.counts > 0).sum())]
    while len(left):
        longest = max(size, int(pairs.counts[left[0]]))
        some, left = left.tensor_split([max(1, _ENTRIES // (longest * size))])
        places, there = pairs.padded(some)
        vectors = others[pairs.items[places]] * there.unsqueeze(2)
        matrix = gram + vectors.mT @ vectors
        matrix.diagonal(dim1=1, dim2=2).add_(diagonal[some].unsqueeze(1))
        factor = torch.linalg.cholesky(matrix)
        found[some] = torch.cholesky_solve(vectors.sum(1).unsqueeze(2), factor).squeeze(2)
    return found
