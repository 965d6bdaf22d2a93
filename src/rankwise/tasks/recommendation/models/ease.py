"""EASE: item–item weights of a ridge regression without the diagonal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor

from rankwise.errors import UsageError
from rankwise.tasks.recommendation.catalog import Scorer
from rankwise.tasks.recommendation.model import ClosedForm
from rankwise.tasks.recommendation.models.itemknn import common_users
from rankwise.tasks.recommendation.problem import Pairs
from rankwise.tasks.recommendation.settings import Settings

_BYTES = 24  # for each pair of items: the Gram matrix, its factor and its inverse
_MEMORY = 8 << 30


class EASE(ClosedForm):
    """s(u, ·) = x_u B with B = argmin ‖X − XB‖² + λ‖B‖², diag(B) = 0 (Steck 2019).

    With P = (XᵀX + λI)⁻¹ that is B_ij = −P_ij/P_jj off the diagonal.
    """

    grid: ClassVar[dict[str, tuple[float, ...]]] = {
        "regularization": (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
    }
    weights: Tensor  # B, (items, items)

    def __init__(self, learned: Pairs, settings: Settings) -> None:
        super().__init__(learned, settings)
        self.check(learned.n_items)
        self.history = learned
        self.register_buffer("weights", torch.empty(learned.n_items, learned.n_items))

    @classmethod
    def check(cls, n_items: int) -> None:
        needed = _BYTES * n_items**2
        if needed > _MEMORY:
            raise UsageError(
                f"--model ease needs a matrix of items × items: {needed / 2**30:.0f} GiB for "
                f"{n_items} items, and the limit is {_MEMORY >> 30} GiB; use --model itemknn or "
                "ials, or leave out rare items"
            )

    @classmethod
    def fits(cls, train: Pairs, settings: Settings) -> Iterator[tuple[Settings, Self]]:
        made = cls(train, settings)
        gram = torch.empty(train.n_items, train.n_items, dtype=torch.float64)
        for some, common in common_users(train):
            gram[some] = common.double()
        gram.diagonal().add_(settings.regularization or 0.0)
        inverse = torch.cholesky_inverse(torch.linalg.cholesky(gram))
        made.weights.copy_(inverse.div_(-inverse.diagonal().clone()))
        made.weights.fill_diagonal_(0)
        yield settings, made

    def scores(self) -> Scorer:
        return _Weighted(self.history, self.weights)


@dataclass(frozen=True, eq=False)
class _Weighted(Scorer):
    """The sum of the rows of a matrix that belong to the items of a user."""

    history: Pairs
    weights: Tensor

    @property
    def n_items(self) -> int:
        return len(self.weights)

    def write(self, users: Tensor, out: Tensor) -> None:
        _, places = self.history.of_users(users)
        counts = self.history.counts[users]
        starts, items = counts.cumsum(0) - counts, self.history.items[places]
        out.copy_(torch.nn.functional.embedding_bag(items, self.weights, starts, mode="sum"))
