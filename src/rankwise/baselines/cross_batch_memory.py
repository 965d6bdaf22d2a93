"""XBM: any objective against the embeddings of the last batches."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.checks import require_count
from rankwise.eager import eager_only
from rankwise.memory import EmbeddingBank
from rankwise.objectives import Objective, embedding_scores
from rankwise.objectives._options import ReprFromOptions

__all__ = ["CrossBatchMemory"]


class CrossBatchMemory(ReprFromOptions, nn.Module):
    """Every embedding is a query that ranks its batch and a memory of ``size`` embeddings.

    Wang et al. 2020, "Cross-batch memory for embedding learning": embeddings drift slowly, so those
    of earlier batches serve as positives and negatives, without a gradient. The memory is used and
    filled from the ``start``-th training batch on; the authors start it after 1 000 batches, when
    the drift is slow. Called with (embeddings, labels); the lists are cosines. Nothing is
    remembered in ``eval()``, nor under ``torch.no_grad()``. An objective with a memory by list is
    made for as many lists as there are classes, and its ``list_ids`` are the label of the query.
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
        """The objective over the batch and, behind it, what was remembered before this batch."""
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
