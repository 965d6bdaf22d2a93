"""A call's arguments as rectangles of lists, in blocks that bound what a pass needs at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from rankwise.eager import eager_only
from rankwise.lists import Lists, take_apart
from rankwise.objectives.arguments import CallArguments, MemoryBy
from rankwise.pairs.ragged import Side, size_classes

__all__ = ["Batch", "CallArguments", "MemoryBy", "read_batch", "sum_with_gradient_in_forward"]


@dataclass(frozen=True)
class Batch:
    """A rectangle of lists as the caller gave it: everything (lists, items) but ``list_ids``."""

    scores: Tensor
    target: Tensor
    mask: Tensor | None = None
    weight: Tensor | None = None
    item_ids: Tensor | None = None  # which item of the data set each score is
    previous: Tensor | None = None  # scores under the previous parameters
    list_ids: Tensor | None = None  # (lists,) which list of the data set each row is
    fill_masked: bool = False  # masked items may hold NaN: they take 0 before they are used

    def rows(self, rows: slice) -> Batch:
        """Some of the lists."""
        return self.each(lambda t: t[rows])

    def each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The same change to everything that is there."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        changed: dict[str, Any] = {
            name: change(t) for name, t in values.items() if isinstance(t, Tensor)
        }
        return replace(self, **changed)

    def blocks(self, items: int) -> Iterator[slice]:
        """Rows in slices of about ``items`` items."""
        at_once = max(1, items // max(1, self.scores.shape[1]))
        for start in range(0, len(self.scores), at_once):
            yield slice(start, start + at_once)

    def split(
        self,
        scale: Tensor | float = 1.0,
        *,
        graded: bool = False,
        whole_positives: bool = False,
        whole_negatives: bool = False,
    ) -> Lists:
        """Positives and negatives of the lists that have both, scores divided by ``scale``.

        The other options are those of :func:`rankwise.lists.take_apart`.
        """
        # Dividing by one would still be a pass over everything, and another one backward.
        same = isinstance(scale, float) and scale == 1
        previous = self.previous
        lists = take_apart(
            self.scores if same else self.scores / scale,
            self.target,
            self.mask,
            self.weight,
            item_ids=self.item_ids,
            previous=previous if same or previous is None else previous / scale,
            graded=graded,
            whole_positives=whole_positives,
            whole_negatives=whole_negatives,
            list_ids=self.list_ids,
            fill_masked=self.fill_masked,
        )
        # Masses are never negative: where none is 0 every list has both classes.
        if bool(lists.masses.all()) or bool(lists.complete.all()):
            return lists
        return lists.select(lists.complete)


def read_batch(
    scores: Tensor,
    target: Tensor,
    arguments: CallArguments,
    kind: MemoryBy,
    *,
    fill_masked: bool = False,
) -> list[Batch]:
    """Arguments that :func:`check_arguments` let pass, as rectangles of lists.

    ``kind`` is what the memory is kept by; ``fill_masked`` is the answer of the checks.
    """
    item_ids = arguments.item_ids if kind == "item" else None
    list_ids = arguments.list_ids if kind == "list" else None
    if arguments.groups is not None:
        batch = Batch(
            scores,
            target,
            arguments.mask,
            arguments.weight,
            item_ids,
            arguments.previous_scores,
            fill_masked=fill_masked,
        )
        return _ragged(batch, arguments.groups, list_ids)
    rows = math.prod(scores.shape[:-1]), scores.shape[-1]

    def flat(t: Tensor | None) -> Tensor | None:
        return None if t is None else t.reshape(rows)

    return [
        Batch(
            scores.reshape(rows),
            target.reshape(rows),
            flat(arguments.mask),
            flat(arguments.weight),
            flat(item_ids),
            flat(arguments.previous_scores),
            None if list_ids is None else list_ids.reshape(-1),
            fill_masked,
        )
    ]


def _ragged(batch: Batch, groups: Tensor, by_group: Tensor | None) -> list[Batch]:
    ids = torch.unique(groups)
    if by_group is not None and by_group.shape != ids.shape:
        raise ValueError(
            f"list_ids must have one id per group, in ascending order of the {len(ids)} groups, "
            f"got shape {tuple(by_group.shape)}"
        )
    batches = []
    for size_class in size_classes(groups):
        (side,) = size_class.sides
        lists = None
        if by_group is not None:
            lists = by_group[torch.searchsorted(ids, size_class.groups)]
        batches.append(_rectangle(batch, side, lists))
    # No list at all is one rectangle without rows, so that there always is a batch to look at.
    return batches or [batch.each(lambda t: t.reshape(0, 0))]


def _rectangle(batch: Batch, side: Side, lists: Tensor | None) -> Batch:
    return Batch(
        side.take(batch.scores),
        side.take(batch.target),
        side.mask if batch.mask is None else side.mask & batch.mask[side.positions],
        None if batch.weight is None else side.take(batch.weight),
        None if batch.item_ids is None else side.take(batch.item_ids),
        None if batch.previous is None else side.take(batch.previous),
        lists,
        batch.fill_masked,
    )


def sum_with_gradient_in_forward(
    batch: Batch, blocks: list[slice], risks: Callable[[Batch, slice], Tensor]
) -> tuple[Tensor, int]:
    """Σ of the risks over all blocks and their number, the gradient made along the way.

    What a block needs is gone when the next one starts; only the gradient of the scores is kept.
    """
    counts: list[int] = []
    total: Tensor = _GradientInForward.apply(batch.scores, batch, blocks, risks, counts)  # type: ignore[no-untyped-call]
    return total, sum(counts)


class _GradientInForward(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[no-untyped-def]  # noqa: PLR0917
        ctx,
        scores: Tensor,
        batch: Batch,
        blocks: list[slice],
        risks: Callable[[Batch, slice], Tensor],
        counts: list[int],
    ) -> Tensor:
        wanted = ctx.needs_input_grad[0]
        gradient = torch.zeros_like(scores) if wanted else None
        total = scores.new_zeros((), dtype=torch.promote_types(scores.dtype, torch.float32))
        for rows in blocks:
            with torch.set_grad_enabled(wanted):
                part = scores[rows].detach().requires_grad_(wanted)
                values = risks(replace(batch.rows(rows), scores=part), rows)
                counts.append(len(values))
                if gradient is not None and values.requires_grad:
                    (gradient[rows],) = torch.autograd.grad(values.sum(), part)
            total += values.detach().sum()
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    @eager_only
    @torch.autograd.function.once_differentiable
    def backward(ctx, arriving: Tensor):  # type: ignore[no-untyped-def]
        (gradient,) = ctx.saved_tensors
        return gradient * arriving.to(gradient.dtype), None, None, None, None
