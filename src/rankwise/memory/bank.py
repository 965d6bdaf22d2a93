"""Embeddings of the last batches: more negatives than one batch has."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.checks import require_count, require_each, require_no_nan, require_shape


class EmbeddingBank(nn.Module):
    """Ring buffer of the last embeddings and their labels (cross-batch memory, XBM).

    The module is called with the embeddings (n, dimension) and labels (n,) of a batch and returns
    what it held before. Only training changes it: neither ``eval()`` nor ``torch.no_grad()`` does.
    All state is in buffers.

    Args:
        size: Number of embeddings; the oldest are replaced first.
        dimension: Dimension of an embedding.

    Example:
        >>> import torch
        >>> from rankwise.memory import EmbeddingBank
        >>> bank = EmbeddingBank(size=2, dimension=1)
        >>> for step in range(3):
        ...     embeddings, labels = bank(torch.tensor([[float(step)]]), torch.tensor([step]))
        >>> labels  # held before the third batch
        tensor([0, 1])
        >>> bank.labels  # the third replaced the oldest
        tensor([2, 1])

    Reference:
        Wang et al. 2020, "Cross-batch memory for embedding learning".
    """

    embeddings: Tensor
    labels: Tensor
    count: Tensor  # embeddings added so far

    def __init__(self, size: int, dimension: int) -> None:
        super().__init__()
        require_each(require_count, size=size, dimension=dimension)
        self.register_buffer("embeddings", torch.zeros(size, dimension))
        self.register_buffer("labels", torch.zeros(size, dtype=torch.long))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(self, embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the bank held before this batch; in training, add the batch."""
        size, dimension = self.embeddings.shape
        require_shape("embeddings", embeddings, "n", dimension)
        require_shape("labels", labels, len(embeddings))
        require_no_nan("embeddings", embeddings)
        held = min(size, int(self.count))
        before = self.embeddings[:held].clone(), self.labels[:held].clone()
        if self.training and torch.is_grad_enabled():
            with torch.no_grad():
                self._update(embeddings.detach()[-size:], labels[-size:], len(embeddings))
        return before

    def _update(self, embeddings: Tensor, labels: Tensor, arrived: int) -> None:
        size = len(self.embeddings)
        first = int(self.count) + arrived - len(embeddings)
        places = (first + torch.arange(len(embeddings), device=embeddings.device)) % size
        self.embeddings.index_copy_(0, places, embeddings.to(self.embeddings.dtype))
        self.labels.index_copy_(0, places, labels.long())
        self.count += arrived

    def extra_repr(self) -> str:
        """Return the sizes."""
        size, dimension = self.embeddings.shape
        return f"size={size}, dimension={dimension}"
