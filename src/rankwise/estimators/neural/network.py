"""The network: an embedding for every column of categories, then layers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

__all__ = ["Network"]


class Network(nn.Module):
    """One score per row of numbers and category numbers.

    Row 0 of an embedding is for categories that are missing or unknown; it starts at zero, which
    is the middle of the others.
    """

    def __init__(self, inputs: int, sizes: Sequence[int], hidden: Sequence[int]) -> None:
        super().__init__()
        widths = [min(32, 1 + size // 2) for size in sizes]
        self.embeddings = nn.ModuleList(
            nn.Embedding(size + 1, width) for size, width in zip(sizes, widths, strict=True)
        )
        layers: list[nn.Module] = []
        width = inputs + sum(widths)
        for units in hidden:
            layers += [nn.Linear(width, units), nn.ReLU()]
            width = units
        layers.append(nn.Linear(width, 1))
        self.layers = nn.Sequential(*layers)
        with torch.no_grad():
            for embedding in self.embeddings:
                assert isinstance(embedding, nn.Embedding)
                embedding.weight[0] = 0

    def forward(self, numbers: Tensor, codes: Tensor) -> Tensor:
        """The scores, (rows,)."""
        parts = [embedding(codes[:, i]) for i, embedding in enumerate(self.embeddings)]
        scores: Tensor = self.layers(torch.cat([numbers, *parts], dim=1)).squeeze(1)
        return scores
