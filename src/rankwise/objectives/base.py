"""The call of every objective: check, arrange, update the memory, take the risks, reduce."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import repeat
from typing import ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from rankwise.checks import (
    require_binary,
    require_ids,
    require_list_dimension,
    require_one_of,
    require_relevance,
    require_scores,
    require_shares,
    trusted,
)
from rankwise.eager import eager_only, first_gradient_only
from rankwise.lists import Lists, check_values, split_by_target
from rankwise.memory import DeferredAverage, MemoryUpdate
from rankwise.objectives._arguments import Reduction, check_tensors, warn_of_one_class
from rankwise.objectives._batch import (
    Batch,
    CallArguments,
    MemoryBy,
    Risks,
    read_batch,
    risks_with_gradient_in_forward,
)
from rankwise.objectives._options import ReprFromOptions

__all__ = ["Exchange", "Objective", "Reduction", "Risk"]

_BLOCK_ITEMS = 1 << 22  # items of a block; with more items the gradient is made block by block


class Risk(NamedTuple):
    """Risks of some lists, and what the memories of the objective learn from them.

    Args:
        values: Risk of each list, shape (lists,).
        updates: Updates of deferred memories, which are applied after the call.

    Example:
        >>> import torch
        >>> from rankwise.objectives import Risk
        >>> Risk(torch.tensor([0.5, 0.0])).updates
        ()
    """

    values: Tensor  # (lists,)
    updates: Sequence[MemoryUpdate] = ()


class Exchange(Protocol):
    """Communication between the processes of a call; every process has to make the same calls."""

    def rows(self, ids: Tensor, values: Tensor) -> tuple[Tensor, Tensor, slice]:
        """Return ids and values of all processes, and where this process's own are."""

    def total(self, values: Tensor) -> Tensor:
        """Return the sums over all processes, without a gradient."""

    def join(
        self, updates: Sequence[MemoryUpdate], total: Tensor, count: int
    ) -> tuple[list[MemoryUpdate], Tensor, int]:
        """Return updates, total risk and number of lists of all processes.

        The total is in double precision; its gradient is the right one once the processes have
        averaged theirs.
        """


class Objective(ReprFromOptions, nn.Module, ABC):
    """Base class of ranking losses, called as ``loss(scores, target)``.

    The last dimension of ``scores`` is the list that is ranked, leading dimensions are independent
    lists. A list without both classes contributes nothing; a batch without any other list gives 0
    with a graph and, the first time, a ``RuntimeWarning``. Under ``torch.compile`` the call runs in
    eager mode, with one graph break.

    A subclass implements :meth:`risk`. Class attributes say what it needs:

    - ``graded``: the target holds relevances rather than classes.
    - ``whole_negatives``, ``whole_positives``: it treats the negatives (positives) alike, in any
      order, which saves a copy of them.
    - ``sums_negatives``: of the negatives it sees Σ_j e^(s_j) alone, so that one negative of score
      log Σ_j e^(s_j) stands for all of them.
    - ``memory_by``, ``memory_size``: what its memory is kept by, and for how many. Numbers that the
      memory learns from a list *before* its risk are returned by :meth:`summarize`,
      ``summary_width`` of them, and stored by :meth:`update`; those that it learns *from* the risk
      are the updates of a :class:`Risk`.
    - ``uses_previous_scores``: it takes ``previous_scores``.
    - ``twice_differentiable``: its gradient is that of its value, without a part that is held
      constant (a memory, a detached factor). Other objectives raise where a second derivative is
      asked for, as by a gradient penalty.

    Args:
        reduction: ``"mean"`` or ``"sum"`` over the lists that can be ranked, or ``"none"``: one
            value per list, in the order of the lists (of the ascending ids of ``groups``), 0 for a
            list that cannot be ranked.

    Example:
        >>> import torch
        >>> from rankwise.objectives import Objective
        >>> class GapOfMeans(Objective):
        ...     def risk(self, lists):
        ...         low = lists.mean_over_negatives(lists.negatives)
        ...         return low - lists.mean_over_positives(lists.positives)
        >>> scores, target = torch.tensor([[2.0, 0.5], [0.0, 1.0]]), torch.tensor([[1, 0], [1, 0]])
        >>> GapOfMeans()(scores, target)  # (-1.5 + 1)/2
        tensor(-0.2500)
        >>> GapOfMeans(reduction="none")(scores, target)
        tensor([-1.5000,  1.0000])
    """

    graded: ClassVar[bool] = False
    pointwise: ClassVar[bool] = False  # an item has a loss without any other
    soft_labels: ClassVar[bool] = False  # a label may be any share between 0 and 1
    whole_negatives: ClassVar[bool] = False
    whole_positives: ClassVar[bool] = False
    sums_negatives: bool = False
    uses_previous_scores: ClassVar[bool] = False
    twice_differentiable: bool = False
    refuses_second: bool = False  # the gradient of rescale raises if it is differentiated
    memory_by: MemoryBy = None
    memory_size: int = 1  # how many lists or items the memory was made for
    summary_width: int = 0  # numbers that :meth:`summarize` gives for each list; 0: not asked
    exchange: Exchange | None = None  # set where the lists of other processes count, too
    warned_of_one_class: bool = False

    def __init__(self, *, reduction: Reduction = "mean") -> None:
        super().__init__()
        require_one_of("reduction", reduction, ("mean", "sum", "none"))
        self.reduction = reduction

    @abstractmethod
    def risk(self, lists: Lists) -> Tensor | Risk:
        """Return the risk of every list, (lists,); every list has both classes."""

    def summarize(self, lists: Lists) -> Tensor:
        """Return what the memory learns from each list before its risk, (lists, summary_width)."""
        raise NotImplementedError

    def update(self, list_ids: Tensor, summaries: Tensor) -> Tensor:
        """Update the memory; what it returns for each list becomes ``lists.remembered``."""
        raise NotImplementedError

    def rescale(self, batches: list[Batch]) -> tuple[list[Batch], Tensor | float]:
        """Return the batches, and what their scores are divided by."""
        return batches, 1.0

    def split(self, batch: Batch, scale: Tensor | float) -> tuple[Lists, Tensor | None]:
        """Split the lists that can be ranked into positives and negatives, divided by ``scale``.

        Returns:
            The lists, and which rows they are; None where all can be ranked.
        """
        scores, previous = batch.scores, batch.previous
        # Dividing by one would still be a pass over everything, and another one backward.
        if not (isinstance(scale, float) and scale == 1):
            scores = scores / scale
            previous = None if previous is None else previous / scale
        lists = split_by_target(
            scores,
            batch.target,
            batch.mask,
            batch.weight,
            item_ids=batch.item_ids,
            previous=previous,
            graded=self.graded,
            whole_positives=self.whole_positives,
            whole_negatives=self.whole_negatives,
            list_ids=batch.list_ids,
            fill_masked=batch.fill_masked,
        )
        if lists.all_complete:
            return lists, None
        return lists.select(lists.complete), lists.complete

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
        previous_scores: Tensor | None = None,
    ) -> Tensor:
        """Compute the risk of the lists.

        Args:
            scores: Logits or similarities of any floating dtype, shape (…, items). The last
                dimension must not be 1 after others, which is what ``nn.Linear(d, 1)`` returns.
            target: 0/1 labels, or relevances ≥ 0 where the objective is graded.
            mask: True for items that are present.
            groups: Ids of the lists of one-dimensional scores, for lists of different lengths.
            weight: Weight of each item; 2 counts as the item twice.
            list_ids: Which list of the data set each list is, shape (…,), or one per group in
                ascending order. Used by objectives with a memory by list.
            item_ids: Which item of the data set each score is of. Used by objectives with a memory
                by item. Everything but ``list_ids`` has the shape of ``scores``.
            previous_scores: Scores of the same items under the previous parameters
                (:class:`rankwise.memory.PreviousModel`). Used by StableAP and XRisk.

        Returns:
            One number; with ``reduction="none"`` one per list, shape (…,) or (groups,).
        """
        arguments = CallArguments(mask, groups, weight, list_ids, item_ids, previous_scores)
        return self.evaluate(scores, target, arguments)

    def evaluate(self, scores: Tensor, target: Tensor, arguments: CallArguments) -> Tensor:
        """Compute the value of a call: the steps of every objective, top to bottom."""
        fill_masked = self.check(scores, target, arguments)
        if not (self.twice_differentiable or self.refuses_second):
            scores = first_gradient_only(scores, type(self).__name__)
        kind = scores.device.type
        autocast = torch.is_autocast_enabled(kind)
        checked = trusted.set(True)
        try:
            with torch.autocast(kind, enabled=False) if autocast else nullcontext():
                batches = read_batch(
                    scores, target, arguments, self.memory_by, fill_masked=fill_masked
                )
                batches, scale = self.rescale(batches)
                risks, updates = self._risks(batches, scale)
                value = self._reduced(risks, batches, updates)
        finally:
            trusted.reset(checked)
        if self.reduction == "none" and arguments.groups is None:
            return value.reshape(scores.shape[:-1])
        return value

    def check(self, scores: Tensor, target: Tensor, arguments: CallArguments) -> bool:
        """Raise on the first argument that cannot be used, in types, shapes and then values.

        Returns:
            Whether masked items hold values that have to be replaced before they are used.
        """
        name, by, mask = type(self).__name__, self.memory_by, arguments.mask
        given = {
            key: value
            for key, value in zip(CallArguments._fields, arguments, strict=True)
            if value is not None
        }
        if "previous_scores" in given and not self.uses_previous_scores:
            raise ValueError(
                f"previous_scores are for objectives that use them, such as StableAP and XRisk, "
                f"got them for {name}; leave them out"
            )
        ids = given.get("item_ids" if by == "item" else "list_ids")
        if ids is None and (by == "item" or self.memory_size > 1):
            raise ValueError(
                f"{by}_ids is needed: {name} remembers {self.memory_size} {by}s; "
                f"pass the id of every {by} of the batch"
            )
        check_tensors({"scores": scores, "target": target, **given}, by)
        if not self.pointwise and scores.dim() > 1 and scores.shape[-1] == 1:
            require_list_dimension(scores, mask)
        if by is not None and ids is not None:
            require_ids(f"{by}_ids", ids, self.memory_size)
        by_kind = require_relevance if self.graded else require_binary
        require_target = require_shares if self.soft_labels else by_kind
        fill_masked = check_values(scores, target, mask, arguments.weight, require_target)
        if (previous := arguments.previous_scores) is not None:
            require_scores("previous_scores", previous if mask is None else previous[mask])
        return fill_masked

    def _risks(
        self, batches: list[Batch], scale: Tensor | float
    ) -> tuple[list[Risks], list[MemoryUpdate]]:
        """Risks of the lists of every batch, and what they report to the memories."""
        updates: list[MemoryUpdate] = []

        def risks_of(lists: Lists, ranked: Tensor | None, remembered: Tensor | None) -> Risks:
            if lists.positives.shape[0] == 0:
                return Risks(lists.positives.new_zeros(0), ranked)
            if remembered is not None:
                lists = lists.replace(remembered=remembered)
            found = self.risk(lists)
            if isinstance(found, Risk):
                updates.extend(found.updates)
                found = found.values
            return Risks(found, ranked)

        items = sum(b.scores.shape[0] > 1 and b.scores.numel() for b in batches)
        if items <= _BLOCK_ITEMS or any(p.requires_grad for p in self.parameters()):
            split = [self.split(batch, scale) for batch in batches]
            known = self._remembered([lists for lists, _ in split])
            return [risks_of(*parts, next(known)) for parts in split], updates
        blocks = [batch.blocks(_BLOCK_ITEMS) for batch in batches]
        parts = (b.rows(r) for b, rows in zip(batches, blocks, strict=True) for r in rows)
        known = self._remembered(self.split(part.detached(), scale)[0] for part in parts)
        return [
            risks_with_gradient_in_forward(
                batch, rows, lambda part: risks_of(*self.split(part, scale), next(known))
            )
            for batch, rows in zip(batches, blocks, strict=True)
        ], updates

    def _remembered(self, parts: Iterable[Lists]) -> Iterator[Tensor | None]:
        """Update the memory from the lists of all parts; what is remembered of each part."""
        if self.summary_width == 0:
            return repeat(None)
        summaries, ids = [], []
        for lists in parts:
            ids.append(lists.ids)
            if lists.positives.shape[0]:
                with torch.no_grad():
                    summaries.append(self.summarize(lists.detached()))
            else:
                summaries.append(lists.positives.new_zeros(0, self.summary_width))
        if self.exchange is None and len(ids) == 1:
            return iter([self.update(ids[0], summaries[0])])
        list_ids, everything, own = torch.cat(ids), torch.cat(summaries), slice(None)
        if self.exchange is not None:
            list_ids, everything, own = self.exchange.rows(list_ids, everything)
        remembered = self.update(list_ids, everything)[own]
        return iter(remembered.split([len(rows) for rows in summaries]))

    def update_memories(self, updates: list[MemoryUpdate]) -> None:
        """Update every deferred memory once, with the updates of all lists and processes."""
        for memory, ids, estimates in updates:
            memory.update(ids, estimates)

    def of_all_processes(
        self, updates: list[MemoryUpdate], total: Tensor, count: int
    ) -> tuple[list[MemoryUpdate], Tensor, int]:
        """Return one update for every deferred memory, the total risk and the number of lists."""
        if self.exchange is None and len(updates) <= 1:
            return updates, total, count
        joined = []
        for memory in self.modules():
            if not isinstance(memory, DeferredAverage):
                continue
            own = [update for update in updates if update.memory is memory]
            if not own:
                no_ids = torch.zeros(0, dtype=torch.long, device=total.device)
                nothing = total.detach().new_zeros(0, memory.update_width)
                own = [MemoryUpdate(memory, no_ids, nothing)]
            if len(own) > 1:
                ids = torch.cat([update.ids for update in own])
                own = [MemoryUpdate(memory, ids, torch.cat([each.estimates for each in own]))]
            joined += own
        if self.exchange is not None:
            return self.exchange.join(joined, total, count)
        return joined, total, count

    def _reduced(
        self, risks: list[Risks], batches: list[Batch], updates: list[MemoryUpdate]
    ) -> Tensor:
        """The value of a call, from the risks of the lists of every batch; the memory learns."""
        scores = batches[0].scores
        dtype = torch.promote_types(scores.dtype, torch.float32)
        count = sum(part.values.shape[0] for part in risks)
        if len(risks) == count == 1:
            total = risks[0].values.squeeze(0)
        else:
            counted = [part.values.sum() for part in risks if part.values.shape[0]]
            total = sum(counted[1:], counted[0]) if counted else scores.new_zeros((), dtype=dtype)
        updates, total, count = self.of_all_processes(updates, total, count)
        self.update_memories(updates)
        nothing_to_rank = count == 0
        if nothing_to_rank and not (self.warned_of_one_class or self.pointwise):
            self.warned_of_one_class = True
            warn_of_one_class(type(self).__name__, batches, graded=self.graded)
        if self.reduction == "none":
            return self._zero(batches) + _in_order(risks, batches, dtype)
        if self.reduction == "mean" and count > 1:
            total = total / count
        # A memory is of single precision, and so may be a risk that it is part of.
        total = total.to(dtype)
        if self.exchange is None and total.requires_grad:
            return total
        return self._zero(batches) + total

    def _zero(self, batches: list[Batch]) -> Tensor:
        """0 with a graph: scores and parameters take part in the backward pass of every process."""
        dtype = torch.promote_types(batches[0].scores.dtype, torch.float32)
        zeros = [batch.scores.flatten()[:0].sum(dtype=dtype) for batch in batches]
        own = [0 * p.sum() for p in self.parameters() if p.requires_grad]
        return sum(zeros[1:] + own, zeros[0])


def _in_order(risks: list[Risks], batches: list[Batch], dtype: torch.dtype) -> Tensor:
    """One value per list, in the order of the call; 0 for a list that cannot be ranked."""
    size = sum(len(batch.scores) for batch in batches)
    values = batches[0].scores.new_zeros(size, dtype=dtype)
    for part, batch in zip(risks, batches, strict=True):
        places = batch.order
        if places is None:
            places = torch.arange(len(batch.scores), device=values.device)
        if part.ranked is not None:
            places = places[part.ranked]
        values = values.index_copy(0, places, part.values.to(dtype))
    return values
