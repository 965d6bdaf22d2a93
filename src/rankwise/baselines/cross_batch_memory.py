"""XBM: any objective against the embeddings of the last batches."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.checks import require_count
from rankwise.eager import eager_only
from rankwise.memory import EmbeddingBank
from rankwise.objectives import Objective, embedding_scores
from rankwise.objectives._options import ReprFromOptions


class CrossBatchMemory(ReprFromOptions, nn.Module):
    """Cross-batch memory (XBM): an objective over the batch and the embeddings of earlier batches.

    Every embedding is a query that ranks the rest of its batch and a memory of ``size`` embeddings
    by cosine. Embeddings drift slowly, so those of earlier batches serve as positives and
    negatives, without a gradient. The module is called with (embeddings, labels). The memory
    changes only in training: neither in ``eval()`` nor under ``torch.no_grad()``. An objective with
    a memory by list needs ``num_lists`` equal to the number of classes; its ``list_ids`` are the
    labels of the queries.

    Args:
        objective: Any objective without a memory by item.
        size: Number of embeddings that are remembered.
        dimension: Dimension of an embedding.
        start: Training batch from which the memory is used and filled; the authors start after 1
            000 batches, when the drift is slow.

    Raises:
        ValueError: If the objective has a memory by item: remembered embeddings have no item ids.

    Example:
        >>> import torch
        >>> from rankwise.baselines import Contrastive, CrossBatchMemory
        >>> loss = CrossBatchMemory(Contrastive(), size=4, dimension=2)
        >>> embeddings = torch.eye(2).repeat_interleave(2, dim=0)
        >>> loss(embeddings, torch.tensor([0, 0, 1, 1]))  # the memory is empty
        tensor(0.)
        >>> loss(embeddings, torch.tensor([1, 1, 0, 0]))  # (2 · 0.5 + 2)/7 from memory
        tensor(0.4286)

    Reference:
        Wang et al. 2020, "Cross-batch memory for embedding learning".
    """

    batches: Tensor  # training batches seen so far

    def __init__(self, objective: Objective, size: int, dimension: int, *, start: int = 0) -> None:
        super().__init__()
        if not isinstance(objective, Objective) or objective.memory_by == "item":
            raise ValueError(
                "objective must be an Objective without a memory by item (remembered embeddings "
                f"have no item ids), got {type(objective).__name__}"
            )
        require_count("start", start, minimum=0)
        self.objective, self.start = objective, start
        self.bank = EmbeddingBank(size, dimension)
        self.register_buffer("batches", torch.zeros((), dtype=torch.long))

    @eager_only
    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Compute the objective over the batch and the embeddings remembered before it."""
        gallery, gallery_labels = None, None
        if int(self.batches) >= self.start:
            gallery, gallery_labels = self.bank(embeddings, labels)
        if self.training and torch.is_grad_enabled():
            self.batches += 1
        lists = embedding_scores(embeddings, labels, gallery, gallery_labels)
        by_class = self.objective.memory_by == "list" and self.objective.memory_size > 1
        loss: Tensor = self.objective(
            lists.scores, lists.target, mask=lists.mask, list_ids=labels if by_class else None
        )
        return loss
