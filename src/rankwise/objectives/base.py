"""What is the same for every objective: the call, the checks, the memory, the mean over lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn

from rankwise.checks import require_binary, require_relevance
from rankwise.eager import eager_only
from rankwise.lists import Lists
from rankwise.memory import FollowedAverage, MovingAverage
from rankwise.objectives.arguments import check_arguments
from rankwise.objectives.batch import (
    Batch,
    CallArguments,
    MemoryBy,
    read_batch,
    sum_with_gradient_in_forward,
)
from rankwise.objectives.one_class import warn_of_one_class
from rankwise.objectives.options import KnowsItsOptions

__all__ = ["Exchange", "Objective"]

_AT_ONCE = 1 << 22  # items worked at once; beyond it the gradient is made block by block

_Seen = tuple[Tensor, Tensor] | None  # ids of some lists and what was observed of them


class Exchange(Protocol):
    """How processes hear of each other in the middle of a call; all of them ask in turn."""

    def rows(self, index: Tensor, values: Tensor) -> tuple[Tensor, Tensor, slice]:
        """Ids and their values of all processes, and where this process's own are."""

    def total(self, value: Tensor) -> Tensor:
        """The sum over all processes."""

    def mean(self, total: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Σ total / Σ count over all processes, and Σ count.

        The first has the gradient that is right once the processes have averaged theirs.
        """


class Objective(KnowsItsOptions, nn.Module, ABC):
    """A ranking risk, called as ``loss(scores, target)``.

    ``scores`` are logits or similarities of any floating dtype, ``target`` is 0/1. The last
    dimension is the list that is ranked, leading dimensions are independent lists; ragged lists
    come flat with the id of each item's list in ``groups``. ``mask`` is True for items that are
    there. ``weight`` is one number per item, 2 counts as the item twice. Objectives with a
    memory take ``list_ids``, one id per list (or per group, in ascending order), or ``item_ids``,
    one per item; every objective accepts both and uses the one it needs.
    A list without both classes contributes nothing. A batch without any other list gives 0 with a
    graph, and the first one a ``RuntimeWarning``. The last dimension must not be 1 beside others,
    which is what ``nn.Linear(d, 1)`` returns: pass ``scores.squeeze(-1)``.

    Under ``torch.compile`` the call runs in eager mode, with one graph break.

    To write one, give :meth:`risk`; one with a memory by list also gives :meth:`observe`, which
    says what a list shows, and :meth:`remember`, which takes it in. A
    :class:`~rankwise.memory.FollowedAverage` that is a part of the objective learns by itself what
    it was asked to follow. An objective of relevances rather than classes sets ``graded``; one that
    treats the negatives alike, in any order, sets ``whole_negatives`` and is spared a copy of them;
    ``whole_positives`` likewise.
    """

    graded: ClassVar[bool] = False
    pointwise: ClassVar[bool] = False  # an item has a loss without any other
    whole_negatives: ClassVar[bool] = False
    whole_positives: ClassVar[bool] = False
    memory_by: MemoryBy = None
    memory_size: int = 1  # how many lists or items the memory was made for
    observed_width: int = 0  # numbers that :meth:`observe` gives for each list; 0: it is not asked
    exchange: Exchange | None = None  # how to hear of the lists of other processes
    warned_of_one_class: bool = False

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

    def split(self, batch: Batch, scale: Tensor | float) -> Lists:
        """The lists of a batch that count, taken apart, scores divided by ``scale``."""
        return batch.split(
            scale,
            graded=self.graded,
            whole_positives=self.whole_positives,
            whole_negatives=self.whole_negatives,
        )

    def learn(self, like: Tensor) -> None:
        """Called after all risks of a call are taken, with a tensor on their device."""
        for average in self._followed():
            index, columns = self._joined(average.pending, average.columns, like)
            average.pending.clear()
            if self.exchange is not None:
                index, columns, _ = self.exchange.rows(index, columns)
            average.take_in_pending(index, columns)

    def _followed(self) -> list[FollowedAverage]:
        if self.memory_by is None:
            return []
        return [part for part in self.modules() if isinstance(part, FollowedAverage)]

    def take_in(
        self, memory: MovingAverage, seen: list[tuple[Tensor, Tensor]], like: Tensor
    ) -> None:
        """Let a memory learn (ids, estimates) collected over a call, of all processes at once."""
        index, values = self._joined(seen, memory.value.shape[1], like)
        if self.exchange is not None:
            index, values, _ = self.exchange.rows(index, values)
        memory(index, values)

    @staticmethod
    def _joined(
        seen: list[tuple[Tensor, Tensor]], width: int, like: Tensor
    ) -> tuple[Tensor, Tensor]:
        index = torch.cat([ids for ids, _ in seen] or [like.new_zeros(0, dtype=torch.long)])
        return index, torch.cat([values for _, values in seen] or [like.new_zeros(0, width)])

    @eager_only
    def forward(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None = None,
        groups: Tensor | None = None,
        weight: Tensor | None = None,
        list_ids: Tensor | None = None,
        item_ids: Tensor | None = None,
    ) -> Tensor:
        """The mean risk over the lists that have both classes."""
        return self.evaluate(
            scores,
            target,
            mask=mask,
            groups=groups,
            weight=weight,
            list_ids=list_ids,
            item_ids=item_ids,
        )

    @eager_only
    def evaluate(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None,
        groups: Tensor | None,
        weight: Tensor | None,
        list_ids: Tensor | None,
        item_ids: Tensor | None,
        previous: Tensor | None = None,
    ) -> Tensor:
        """The call, with the arguments that only some objectives take."""
        arguments = CallArguments(mask, groups, weight, list_ids, item_ids, previous)
        fill_masked = self.check(scores, target, arguments)
        if not torch.is_autocast_enabled(scores.device.type):
            return self._evaluate(scores, target, arguments, fill_masked)
        with torch.autocast(scores.device.type, enabled=False):
            return self._evaluate(scores, target, arguments, fill_masked)

    def _evaluate(
        self, scores: Tensor, target: Tensor, arguments: CallArguments, fill_masked: bool
    ) -> Tensor:
        batches = read_batch(scores, target, arguments, self.memory_by, fill_masked=fill_masked)
        return self._mean_risk(batches, scores)

    def check(self, scores: Tensor, target: Tensor, arguments: CallArguments) -> bool:
        """Raise on arguments that this objective cannot take, as :func:`check_arguments` does."""
        return check_arguments(
            scores,
            target,
            arguments,
            name=type(self).__name__,
            memory_by=self.memory_by,
            memory_size=self.memory_size,
            pointwise=self.pointwise,
            check_target=self.check_target,
        )

    def check_target(self, target: Tensor) -> None:
        """Raise on labels that this objective cannot take."""
        (require_relevance if self.graded else require_binary)("target", target)

    def _mean_risk(self, batches: list[Batch], scores: Tensor) -> Tensor:
        """The mean over the complete lists of all batches, which are made of ``scores``."""
        for average in self._followed():
            average.pending.clear()  # what a call that was refused in the middle left behind
        scale = self.scale(batches)
        large = sum(len(b.scores) > 1 and b.scores.numel() for b in batches) > _AT_ONCE
        if large and not any(p.requires_grad for p in self.parameters()):
            total, count = self._in_blocks(batches, scale)
        else:
            total, count = self._at_once(batches, scale)
        self.learn(_like(scores))
        if self.exchange is not None:
            mean, everyone = self.exchange.mean(total, count)
            if count == 0 and not self.warned_of_one_class and not bool(everyone):
                self._warn(batches)
            return self._nothing(scores) + mean
        if count == 0:
            self._warn(batches)
        if not total.requires_grad:
            total = self._nothing(scores) + total
        # A memory is of single precision, and so may be a risk that it is part of.
        total = total.to(torch.promote_types(scores.dtype, torch.float32))
        return total if count <= 1 else total / count

    def _warn(self, batches: list[Batch]) -> None:
        """Report, once per objective, that the batch has nothing to rank."""
        if not (self.warned_of_one_class or self.pointwise):
            self.warned_of_one_class = True
            warn_of_one_class(type(self).__name__, batches, graded=self.graded)

    def _nothing(self, scores: Tensor) -> Tensor:
        """0 with a graph, also where no list has anything to rank.

        Parameters of the loss are part of the graph of every process, also of one without lists.
        """
        zero = scores.flatten()[:0].sum(dtype=torch.promote_types(scores.dtype, torch.float32))
        return sum((0 * p.sum() for p in self.parameters() if p.requires_grad), zero)

    def _at_once(self, batches: list[Batch], scale: Tensor | float) -> tuple[Tensor, int]:
        split = [self.split(batch, scale) for batch in batches]
        seen = [self._observed(lists) for lists in split]
        risks = [
            self.risk(lists if known is None else replace(lists, remembered=known))
            for lists, known in zip(
                split, self._memory(seen, _like(batches[0].scores)), strict=True
            )
            if len(lists.positives)
        ]
        total = sum((r.sum() for r in risks[1:]), risks[0].sum()) if risks else None
        return _like(batches[0].scores).zero_() if total is None else total, sum(map(len, risks))

    def _in_blocks(self, batches: list[Batch], scale: Tensor | float) -> tuple[Tensor, int]:
        blocks = [list(batch.blocks(_AT_ONCE)) for batch in batches]
        seen = []
        for batch, parts in zip(batches, blocks, strict=True):
            with torch.no_grad():
                seen += [self._observed(self.split(batch.rows(rows), scale)) for rows in parts]
        remembered = self._memory(seen, _like(batches[0].scores))
        total, count = torch.zeros((), device=batches[0].scores.device), 0
        for number, batch in enumerate(batches):
            known = iter(remembered[sum(map(len, blocks[:number])) :])

            def risks(part: Batch, rows: slice, known=known) -> Tensor:  # type: ignore[no-untyped-def]
                lists = replace(self.split(part, scale), remembered=next(known))
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
        observed, ids = self.observe(lists.detached()), lists.list_ids
        if ids is None:
            ids = torch.zeros(len(observed), dtype=torch.long, device=observed.device)
        return ids, observed

    def _memory(self, seen: list[_Seen], like: Tensor) -> list[Tensor | None]:
        """What is remembered of the lists of every part, after all parts were taken in at once."""
        if self.observed_width == 0:
            return [None] * len(seen)
        known = [part for part in seen if part is not None]
        index, observed = self._joined(known, self.observed_width, like)
        own = slice(None)
        if self.exchange is not None:
            index, observed, own = self.exchange.rows(index, observed)
        remembered = self.remember(index, observed)[own]
        parts = iter(torch.split(remembered, [len(values) for _, values in known]))
        return [None if part is None else next(parts) for part in seen]


def _like(scores: Tensor) -> Tensor:
    """A number on the scores' device, of the dtype that risks of them have."""
    dtype = torch.promote_types(scores.dtype, torch.float32)
    return torch.empty((), dtype=dtype, device=scores.device)
