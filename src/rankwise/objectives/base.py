"""What is the same for every objective: the call, the checks, the memory, the mean over lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn

from rankwise.lists import Lists
from rankwise.memory import MovingAverage, require_index
from rankwise.objectives.batch import (
    Batch,
    Beside,
    IndexKind,
    read_batch,
    sum_with_gradient_in_forward,
)

__all__ = ["Exchange", "Objective"]

_AT_ONCE = 1 << 22  # items worked at once; beyond it the gradient is made block by block

_Seen = tuple[Tensor, Tensor] | None  # ids of some lists and what was observed of them


class Exchange(Protocol):
    """How processes hear of each other in the middle of a call; all of them ask in turn."""

    def rows(self, index: Tensor, values: Tensor) -> tuple[Tensor, Tensor, slice]:
        """Ids and their values of all processes, and where this process's own are."""

    def total(self, value: Tensor) -> Tensor:
        """The sum over all processes."""

    def mean(self, total: Tensor, count: int) -> Tensor:
        """Σ total / Σ count over all processes, with the gradient that averaging makes right."""


class Objective(nn.Module, ABC):
    """A ranking risk, called as ``loss(scores, target)``.

    ``scores`` are logits or similarities of any floating dtype, ``target`` is 0/1. The last
    dimension is the list that is ranked, leading dimensions are independent lists; ragged lists
    come flat with the id of each item's list in ``groups``. ``mask`` is True for items that are
    there. ``weight`` is one number per item, 2 counts as the item twice. ``index`` is for
    objectives with a memory: one id per list (or per group, in ascending order), or one per item.
    A list without both classes contributes nothing, and a batch without any other list gives 0
    with a graph.

    To write one, give :meth:`risk`; one with a memory by list also gives :meth:`observe`, which
    says what a list shows, and :meth:`remember`, which takes it in.
    """

    index_kind: ClassVar[IndexKind] = None
    keys: int = 1  # how many lists or items the memory was made for
    observed_width: int = 0  # numbers that :meth:`observe` gives for each list; 0: it is not asked
    exchange: Exchange | None = None  # how to hear of the lists of other processes

    @abstractmethod
    def risk(self, lists: Lists) -> Tensor:
        """The risk of every list, (lists,); every list has both classes."""

    def observe(self, lists: Lists) -> Tensor:
        """What the memory is to learn from each list, (lists, width), before any risk is taken."""
        return lists.positives[:, : self.observed_width]

    def remember(self, index: Tensor, observed: Tensor) -> Tensor:
        """Take in what was observed; what is now known of each list becomes ``remembered``."""
        return observed

    def scale(self, batches: list[Batch]) -> Tensor | float:
        """What the scores are divided by before they are looked at."""
        return 1.0

    def learn(self, like: Tensor) -> None:
        """Called after all risks of a call are taken, with a tensor on their device."""

    def take_in(
        self, memory: MovingAverage, seen: list[tuple[Tensor, Tensor]], like: Tensor
    ) -> None:
        """Let a memory learn (ids, estimates) collected over a call, of all processes at once."""
        index = torch.cat([ids for ids, _ in seen] or [like.new_zeros(0, dtype=torch.long)])
        width = memory.value.shape[1]
        values = torch.cat([estimates for _, estimates in seen] or [like.new_zeros(0, width)])
        if self.exchange is not None:
            index, values, _ = self.exchange.rows(index, values)
        memory(index, values)

    def forward(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None = None,
        groups: Tensor | None = None,
        weight: Tensor | None = None,
        index: Tensor | None = None,
    ) -> Tensor:
        """The mean risk over the lists that have both classes."""
        return self.evaluate(scores, target, mask=mask, groups=groups, weight=weight, index=index)

    def evaluate(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None,
        groups: Tensor | None,
        weight: Tensor | None,
        index: Tensor | None,
        previous: Tensor | None = None,
    ) -> Tensor:
        """The call, with what only some objectives take beside it."""
        if index is None and (self.index_kind == "item" or self.keys > 1):
            raise ValueError(
                f"index is needed: {type(self).__name__} remembers {self.keys} {self.index_kind}s; "
                f"pass the id of every {self.index_kind} of the batch"
            )
        with torch.autocast(scores.device.type, enabled=False):
            beside = Beside(mask, groups, weight, index, previous)
            batches = read_batch(scores, target, beside, self.index_kind)
            if index is not None and self.index_kind is not None:
                require_index("index", index, self.keys)
            return self._mean_risk(batches, scores)

    def _mean_risk(self, batches: list[Batch], scores: Tensor) -> Tensor:
        """The mean over the complete lists of all batches, which are made of ``scores``."""
        scale = self.scale(batches)
        nothing = scores.flatten()[:0].sum(dtype=torch.promote_types(scores.dtype, torch.float32))
        large = sum(len(b.scores) > 1 and b.scores.numel() for b in batches) > _AT_ONCE
        if large and not any(p.requires_grad for p in self.parameters()):
            total, count = self._in_blocks(batches, scale)
        else:
            split = [batch.split(scale) for batch in batches]
            seen = [self._observed(lists.detached()) for lists in split]
            remembered = self._memory(seen, nothing)
            risks = [
                self.risk(replace(lists, remembered=known))
                for lists, known in zip(split, remembered, strict=True)
                if len(lists.positives)
            ]
            total, count = sum((r.sum() for r in risks), nothing), sum(len(r) for r in risks)
        self.learn(nothing.detach())
        if self.exchange is not None:
            return nothing + self.exchange.mean(total, count)
        return nothing + total / max(1, count)

    def _in_blocks(self, batches: list[Batch], scale: Tensor | float) -> tuple[Tensor, int]:
        blocks = [list(batch.blocks(_AT_ONCE)) for batch in batches]
        seen = []
        for batch, parts in zip(batches, blocks, strict=True):
            with torch.no_grad():
                seen += [self._observed(batch.rows(rows).split(scale)) for rows in parts]
        remembered = self._memory(seen, batches[0].scores)
        total, count = torch.zeros((), device=batches[0].scores.device), 0
        for number, batch in enumerate(batches):
            known = iter(remembered[sum(map(len, blocks[:number])) :])

            def risks(part: Batch, rows: slice, known=known) -> Tensor:  # type: ignore[no-untyped-def]
                lists = replace(part.split(scale), remembered=next(known))
                if len(lists.positives) == 0:
                    return part.scores.new_zeros(0)
                return self.risk(lists)

            part, size = sum_with_gradient_in_forward(batch, blocks[number], risks)
            total, count = total + part, count + size
        return total, count

    @torch.no_grad()
    def _observed(self, lists: Lists) -> _Seen:
        if self.observed_width == 0 or len(lists.positives) == 0:
            return None
        observed, ids = self.observe(lists), lists.index
        if ids is None:
            ids = torch.zeros(len(observed), dtype=torch.long, device=observed.device)
        return ids, observed

    def _memory(self, seen: list[_Seen], like: Tensor) -> list[Tensor | None]:
        """What is remembered of the lists of every part, after all parts were taken in at once."""
        if self.observed_width == 0:
            return [None] * len(seen)
        known = [part for part in seen if part is not None]
        observed = torch.cat(
            [values for _, values in known] or [like.detach().new_zeros(0, self.observed_width)]
        )
        index = torch.cat([ids for ids, _ in known] or [like.new_zeros(0, dtype=torch.long)])
        own = slice(None)
        if self.exchange is not None:
            index, observed, own = self.exchange.rows(index, observed)
        remembered = self.remember(index, observed)[own]
        parts = iter(torch.split(remembered, [len(values) for _, values in known]))
        return [None if part is None else next(parts) for part in seen]
