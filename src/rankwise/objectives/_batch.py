"""The lists of a call as rectangles, in blocks that bound the memory of a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from rankwise.eager import Context, Function, eager_backward
from rankwise.lists import Lists, in_rows, split_by_target
from rankwise.pairs.ragged import size_classes

MemoryBy = Literal["list", "item"] | None
"""What an objective's memory is kept by."""


class CallArguments(NamedTuple):
    """The optional arguments of a call, one value per item; ``list_ids`` has one per list."""

    mask: Tensor | None = None
    groups: Tensor | None = None
    weight: Tensor | None = None
    list_ids: Tensor | None = None
    item_ids: Tensor | None = None
    previous_scores: Tensor | None = None  # scores of the same items under previous parameters


class Risks(NamedTuple):
    """The risks of those lists of a batch that can be ranked."""

    values: Tensor  # (ranked lists,)
    ranked: Tensor | None  # (lists of the batch,) which ones they are; None: all


class Batch(NamedTuple):
    """A rectangle of lists as the caller gave it: everything (lists, items) but two fields."""

    scores: Tensor
    target: Tensor
    mask: Tensor | None = None
    weight: Tensor | None = None
    item_ids: Tensor | None = None  # which item of the data set each score is
    previous: Tensor | None = None  # scores under the previous parameters
    list_ids: Tensor | None = None  # (lists,) which list of the data set each row is
    order: Tensor | None = None  # (lists,) place of each row among the lists of the call
    fill_masked: bool = False  # masked items may hold NaN: they take 0 before they are used

    def rows(self, rows: slice) -> Batch:
        """Return some of the lists."""
        return self.map(lambda t: t[rows])

    def detached(self) -> Batch:
        """Return the batch without a graph."""
        return self._replace(scores=self.scores.detach())

    def map(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """Return the batch with every tensor changed in the same way."""
        tensors = {name: t for name, t in self._asdict().items() if isinstance(t, Tensor)}
        changed: dict[str, Any] = {name: change(t) for name, t in tensors.items()}
        return self._replace(**changed)

    def blocks(self, items: int) -> list[slice]:
        """Return the rows in slices of about ``items`` items."""
        step = max(1, items // max(1, self.scores.shape[1]))
        return [slice(start, start + step) for start in range(0, self.scores.shape[0], step)]


def read_batch(
    scores: Tensor,
    target: Tensor,
    arguments: CallArguments,
    memory_by: MemoryBy = None,
    *,
    fill_masked: bool = False,
) -> list[Batch]:
    """Arrange arguments that were checked as rectangles of lists.

    Args:
        scores: Scores of the call.
        target: Targets of the call.
        arguments: The optional arguments of the call.
        memory_by: What the objective's memory is kept by: other ids are dropped.
        fill_masked: Whether masked items may hold NaN.
    """
    mask, groups, weight, list_ids, item_ids, previous = arguments
    list_ids = list_ids if memory_by == "list" else None
    item_ids = item_ids if memory_by == "item" else None
    previous = None if previous is None else previous.detach()
    if groups is not None:
        batch = Batch(scores, target, mask, weight, item_ids, previous, fill_masked=fill_masked)
        return _ragged(batch, groups, list_ids)
    if scores.dim() != 2:
        scores, target, *others = in_rows(scores, target, mask, weight, item_ids, previous)
        mask, weight, item_ids, previous = others
    list_ids = None if list_ids is None else list_ids.reshape(-1)
    return [
        Batch(scores, target, mask, weight, item_ids, previous, list_ids, fill_masked=fill_masked)
    ]


def _ragged(batch: Batch, groups: Tensor, list_ids: Tensor | None) -> list[Batch]:
    ids = torch.unique(groups)
    if list_ids is not None and list_ids.shape != ids.shape:
        raise ValueError(
            f"list_ids must have one id per group, in ascending order of the {len(ids)} groups, "
            f"got shape {tuple(list_ids.shape)}"
        )
    present = batch._replace(mask=None)
    batches = []
    for order, (side,) in size_classes(groups):
        mask = side.mask
        if batch.mask is not None:
            kept = batch.mask[side.positions]
            mask = kept if mask is None else mask & kept
        batches.append(
            present.map(side.take)._replace(
                mask=mask,
                list_ids=None if list_ids is None else list_ids[order],
                order=order,
            )
        )
    # No list at all is one rectangle without rows, so that there always is a batch to look at.
    return batches or [batch.map(lambda t: t.reshape(0, 0))]


def lists_of_rows(
    target: Tensor, arguments: CallArguments, memory_by: MemoryBy = None
) -> Iterator[Lists]:
    """Split the lists that can be ranked, with the number of each row in place of its score."""
    # One long list has 4 bytes a row: they bound the number of rows that fit into memory.
    one = arguments.groups is None and arguments.weight is None and len(target) < 2**31
    rows = torch.arange(len(target), dtype=torch.int32 if one else torch.float64)
    for batch in read_batch(rows, target, arguments, memory_by):
        lists = split_by_target(
            batch.scores, batch.target, batch.mask, batch.weight, list_ids=batch.list_ids
        )
        if bool(lists.complete.all()):
            yield lists
        elif bool(lists.complete.any()):
            yield lists.select(lists.complete)


def risks_with_gradient_in_forward(
    batch: Batch, blocks: list[slice], risks: Callable[[Batch], Risks]
) -> Risks:
    """Compute the risks of all blocks, and their gradient along the way.

    What a block needs is gone when the next one starts; only the gradient of the scores is kept.
    """
    ranked: list[Tensor] = []
    values = _GradientInForward.apply(batch.scores, batch, blocks, risks, ranked)
    which = torch.cat(ranked)
    return Risks(values[which], which)


class _GradientInForward(Function):
    """One value for each row, 0 for a list that cannot be ranked; rows are independent."""

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[None],
        scores: Tensor,
        batch: Batch,
        blocks: list[slice],
        risks: Callable[[Batch], Risks],
        ranked: list[Tensor],
    ) -> Tensor:
        wanted = ctx.needs_input_grad[0]
        gradient = torch.zeros_like(scores) if wanted else None
        dtype = torch.promote_types(scores.dtype, torch.float32)
        values = scores.new_zeros(len(scores), dtype=dtype)
        for rows in blocks:
            with torch.set_grad_enabled(wanted):
                part = scores[rows].detach().requires_grad_(wanted)
                found = risks(batch.rows(rows)._replace(scores=part))
                if gradient is not None and found.values.requires_grad:
                    (gradient[rows],) = torch.autograd.grad(found.values.sum(), part)
            which = found.ranked
            if which is None:
                which = torch.ones(len(part), dtype=torch.bool, device=part.device)
            values[rows][which] = found.values.detach().to(dtype)
            ranked.append(which)
        ctx.save_for_backward(scores, gradient)
        return values

    @staticmethod
    @eager_backward
    def backward(ctx: Context[None], *arriving: Tensor) -> tuple[Tensor | None, ...]:
        (_, gradient), (of_values,) = ctx.saved_tensors, arriving
        return gradient * of_values.to(gradient.dtype).unsqueeze(-1), None, None, None, None
