"""Loss of embeddings by any objective: every image of the batch is a query."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import torch
from torch import Tensor, nn

from rankwise._grammar import parse
from rankwise.baselines import CrossBatchMemory, SupCon
from rankwise.baselines.proxies import ProxyObjective
from rankwise.errors import UsageError
from rankwise.naming import objective as by_name
from rankwise.naming.entry import load
from rankwise.naming.table import find_objective
from rankwise.objectives import HierarchicalAP, Objective, embedding_scores
from rankwise.tasks.retrieval.settings import Settings

_MOST_PAIRS = 50_000_000  # pairs of images that a memory by item may have


class RetrievalLoss(nn.Module):
    """``loss(embeddings, labels)``: the mean over the queries of a batch, positives their class.

    π of a query is the share of its class among the other images of the data set, and an objective
    with a memory by list has one list for every class. One with a memory by item remembers every
    pair of images, which needs few of them, and one by anchor every image; both want their
    ``rows`` in the call. A loss with proxies has one for every class. Hierarchical AP ranks by the
    super-classes as well, where the images have them.
    """

    families: Tensor | None  # the super-class of every class

    def __init__(self, settings: Settings, labels: Tensor, tree: Tensor | None = None) -> None:
        """``labels``, from 0, are those of the training set; ``tree`` has super-classes, too."""
        super().__init__()
        chosen, memory = settings.objective, settings.memory
        self.images, self.chosen = len(labels), chosen
        self.dimension = settings.network.dimension
        try:
            self.objective: nn.Module = self._made(labels)
        except (ValueError, RuntimeError) as error:
            raise UsageError(f"objective.name: {error}") from None
        if isinstance(self.objective, CrossBatchMemory):
            raise UsageError(
                "objective.name: xbm is not an objective but the setting memory.size; "
                "name the objective that goes over the memory, such as contrastive"
            )
        self.by_pair = self.by_image = self.by_class = False
        families = None
        if tree is not None and isinstance(self.objective, HierarchicalAP):
            if memory.size:
                raise UsageError(
                    f"objective.name: {chosen.name} ranks by super-classes, which memory.size does "
                    "not keep; leave the memory out"
                )
            families = torch.zeros(int(labels.max()) + 1, dtype=torch.long)
            families[labels] = tree[:, 0]
        self.register_buffer("families", families, persistent=False)
        self.warm = SupCon() if chosen.warm_start else None
        self.memory: CrossBatchMemory | None = None
        if isinstance(self.objective, ProxyObjective):
            if memory.size or chosen.previous:
                raise UsageError(
                    f"objective.name: {chosen.name} compares images with proxies of classes, and "
                    "goes neither with memory.size nor with objective.previous"
                )
            return
        if not isinstance(self.objective, Objective):
            raise UsageError(
                f"objective.name: {chosen.name} is a loss of logits, not of one ranked list"
            )
        self.by_pair = self.objective.memory_by == "item"
        by_list = self.objective.memory_by == "list" and self.objective.memory_size > 1
        self.by_image = by_list and self._by_anchor
        self.by_class = by_list and not self._by_anchor
        if self.needs_rows and (memory.size or settings.mixup.stages):
            raise UsageError(
                f"objective.name: {chosen.name} remembers images, and goes neither with "
                "memory.size nor with mixup.stages, whose embeddings are of no image"
            )
        if chosen.previous and not self.objective.uses_previous_scores:
            raise UsageError(f"objective.previous is for stable_ap, got {chosen.name}")
        if memory.size:
            size = memory.size, self.dimension
            self.memory = CrossBatchMemory(self.objective, *size, start=memory.start)

    def _made(self, labels: Tensor) -> nn.Module:
        """Make the objective; its prior and the sizes of its memory follow from the data."""
        spec = parse(self.chosen.name)
        entry = find_objective(spec)
        self._by_anchor = entry.memory == "by anchor"
        counts = torch.bincount(labels).double()
        if issubclass(cast(type, load(entry)), ProxyObjective):
            known = {"num_classes": len(counts), "dimension": self.dimension}
            return by_name(str(replace(spec, options=known | dict(spec.options))))
        prior = (counts - 1).clamp_min(1) / max(1, self.images - 1)
        if "num_lists" not in entry.facts:  # one number for all: that of the mean query
            prior = (prior * counts).sum() / self.images
        items: int | None = self.images
        if entry.memory == "by item":
            items = self.images**2
            if items > _MOST_PAIRS:
                raise ValueError(
                    f"{self.chosen.name} remembers every pair of images, {self.images:,}² of them; "
                    f"at most {_MOST_PAIRS:,} are possible"
                )
        elif entry.memory.startswith("by item"):  # it does without a memory as well
            items = None
        lists = self.images if self._by_anchor else len(counts)
        return by_name(self.chosen.name, prior=prior, num_items=items, num_lists=lists)

    @property
    def needs_rows(self) -> bool:
        """Whether it remembers images, by their rows in the set."""
        return self.by_pair or self.by_image

    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        *,
        step: int = 0,
        rows: Tensor | None = None,
        previous: Tensor | None = None,
    ) -> Tensor:
        """Return the loss of a step; ``previous`` are the embeddings by the last parameters."""
        warming = self.warm is not None and step < self.chosen.warm_start
        if isinstance(self.objective, ProxyObjective) and not warming:
            against: Tensor = self.objective(embeddings, labels)
            return against
        known = labels
        if self.families is not None and not warming:
            known = torch.stack([self.families[labels], labels], 1)
        lists = embedding_scores(embeddings, known, normalize=False)
        if self.warm is not None and warming:
            warm: Tensor = self.warm(lists.scores, lists.target, mask=lists.mask)
            return warm
        if self.memory is not None:
            remembered: Tensor = self.memory(embeddings, labels)
            return remembered
        more: dict[str, Tensor] = {"list_ids": labels} if self.by_class else {}
        if self.needs_rows:
            if rows is None:
                raise ValueError(f"rows is needed: {self.chosen.name} remembers images")
            pairs = {"item_ids": rows.unsqueeze(1) * self.images + rows}
            more = pairs if self.by_pair else {"list_ids": rows}
        if previous is not None:
            more["previous_scores"] = previous @ previous.T
        loss: Tensor = self.objective(lists.scores, lists.target, mask=lists.mask, **more)
        return loss
