"""The checks of what an objective is called with, all of them before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.checks import (
    require_finite,
    require_floating,
    require_list_dimension,
    require_mask,
    require_same_device,
    require_same_shape,
    require_tensor,
)
from rankwise.lists import check_values
from rankwise.memory import require_ids

__all__ = ["CallArguments", "MemoryBy", "check_arguments"]

MemoryBy = str | None
"""What an objective's memory is kept by: ``"list"``, ``"item"`` or nothing."""


@dataclass(frozen=True)
class CallArguments:
    """The optional arguments of a call, one value per item; ``list_ids`` has one per list."""

    mask: Tensor | None = None
    groups: Tensor | None = None
    weight: Tensor | None = None
    list_ids: Tensor | None = None
    item_ids: Tensor | None = None
    previous_scores: Tensor | None = None  # scores of the same items under the previous parameters


def check_arguments(
    scores: Tensor,
    target: Tensor,
    arguments: CallArguments,
    *,
    name: str,
    memory_by: MemoryBy,
    memory_size: int,
    pointwise: bool,
    check_target: Callable[[Tensor], None],
) -> bool:
    """Raise on the first argument that cannot be used, in types, shapes and then values.

    ``name`` is the objective's, ``memory_by`` and ``memory_size`` what its memory is kept by and
    how large it is; ``pointwise`` says that an item has a loss without any other. Returns whether
    masked items hold values that have to be replaced before anything is computed with them.
    """
    ids = arguments.item_ids if memory_by == "item" else arguments.list_ids
    if ids is None and (memory_by == "item" or memory_size > 1):
        raise ValueError(
            f"{memory_by}_ids is needed: {name} remembers {memory_size} {memory_by}s; "
            f"pass the id of every {memory_by} of the batch"
        )
    _check_types(scores, target, arguments)
    _check_shapes(scores, target, arguments, memory_by)
    if not pointwise:
        require_list_dimension(scores, arguments.mask)
    if memory_by is not None and ids is not None:
        require_ids(f"{memory_by}_ids", ids, memory_size)
    fill_masked = check_values(scores, target, arguments.mask, arguments.weight, check_target)
    if arguments.previous_scores is not None:
        _check_previous(arguments.previous_scores, arguments.mask)
    return fill_masked


def _check_types(scores: Tensor, target: Tensor, arguments: CallArguments) -> None:
    given = {
        "scores": scores,
        "target": target,
        "mask": arguments.mask,
        "groups": arguments.groups,
        "weight": arguments.weight,
        "list_ids": arguments.list_ids,
        "item_ids": arguments.item_ids,
        "previous_scores": arguments.previous_scores,
    }
    for name, value in given.items():
        if value is not None:
            require_tensor(name, value)
            require_same_device(name, value, "scores", scores)
    require_floating("scores", scores)
    if arguments.previous_scores is not None:
        require_floating("previous_scores", arguments.previous_scores)
    if arguments.mask is not None:
        require_mask("mask", arguments.mask)
    groups = arguments.groups
    if groups is not None and (groups.is_floating_point() or groups.dtype == torch.bool):
        raise ValueError(f"groups must hold integers, got {groups.dtype}; pass groups.long()")


def _check_shapes(
    scores: Tensor, target: Tensor, arguments: CallArguments, memory_by: MemoryBy
) -> None:
    if scores.dim() == 0:
        raise ValueError("scores must have at least one dimension, the list, got one number")
    by_item = {
        "target": target,
        "mask": arguments.mask,
        "groups": arguments.groups,
        "weight": arguments.weight,
        "item_ids": arguments.item_ids if memory_by == "item" else None,
        "previous_scores": arguments.previous_scores,
    }
    for name, value in by_item.items():
        if value is not None:
            require_same_shape(name, value, "scores", scores)
    if arguments.groups is not None:
        if scores.dim() != 1:
            raise ValueError(
                f"groups is for one-dimensional scores, got shape {tuple(scores.shape)}"
            )
    elif (
        memory_by == "list"
        and arguments.list_ids is not None
        and arguments.list_ids.shape != scores.shape[:-1]
    ):
        raise ValueError(
            f"list_ids must have one id per list, shape {tuple(scores.shape[:-1])}, "
            f"got {tuple(arguments.list_ids.shape)}"
        )


def _check_previous(previous: Tensor, mask: Tensor | None) -> None:
    try:
        require_finite("previous_scores", previous)
    except ValueError:
        if mask is None:
            raise
        require_finite("previous_scores", previous[mask])
