"""LightGCN: vectors that are averaged over the graph of the training interactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from rankwise.eager import Context, Function, eager_only
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.problem import Pairs, Problem
from rankwise.tasks.recommendation.settings import Settings


class LightGCN(Recommender):
    """The mean of E, ÂE, …, ÂᴸE in place of the embeddings E of users and items.

    Â = D^(−½) A D^(−½), A the adjacency of users and items in the training interactions, D the
    degrees (He et al. 2020, Eq. 8). The graph is not part of the state: it is made of the
    interactions that the model learned from.
    """

    def __init__(self, graph: Pairs, settings: Settings) -> None:
        super().__init__(graph.n_users, graph.n_items, settings)
        self.layers = settings.layers
        self.graph = Graph.of(graph)

    @classmethod
    def new(cls, problem: Problem, settings: Settings, learned: Pairs) -> Self:
        return cls(learned, settings)

    def sides(self) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
        users, items = self.users.ids.weight, self.items.ids.weight
        found = _Propagation.apply(torch.cat([users, items]), self.graph, self.layers)
        of_users, of_items = found.split([len(users), len(items)])
        return of_users.__getitem__, of_items.__getitem__


class Graph(NamedTuple):
    """Â as a sparse matrix by rows; users come first, then items."""

    start: Tensor  # (users + items,): where the entries of each row start
    column: Tensor
    value: Tensor

    @classmethod
    def of(cls, pairs: Pairs) -> Graph:
        """The graph of some pairs."""
        back = pairs.transposed()
        degrees = torch.cat([pairs.counts, back.counts])
        column = torch.cat([pairs.items + pairs.n_users, back.items])
        row = torch.repeat_interleave(torch.arange(len(degrees)), degrees)
        value = (degrees[row] * degrees[column]).double().rsqrt().float()
        return cls((degrees.cumsum(0) - degrees).int(), column.int(), value)

    def propagated(self, vectors: Tensor, layers: int) -> Tensor:
        """The mean of ``vectors`` and of what each layer makes of them."""
        total, layer = vectors, vectors
        for _ in range(layers):
            # A product of matrices, and faster than that of torch's sparse tensors.
            layer = nn.functional.embedding_bag(
                self.column, layer, self.start, mode="sum", per_sample_weights=self.value
            )
            total = total + layer
        return total / (layers + 1)


class _Propagation(Function):
    """The mean over the layers. Â is symmetric: the gradient is propagated like the vectors."""

    @staticmethod
    def forward(
        ctx: Context[tuple[Graph, int]], vectors: Tensor, graph: Graph, layers: int
    ) -> Tensor:
        ctx.kept = graph, layers
        return graph.propagated(vectors, layers)

    @staticmethod
    @eager_only
    def backward(ctx: Context[tuple[Graph, int]], *arriving: Tensor) -> tuple[Tensor | None, ...]:
        # As a function again: it is linear, and so has derivatives of every order.
        return _Propagation.apply(arriving[0].contiguous(), *ctx.kept), None, None
