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
from rankwise.memory import require_index

__all__ = ["Beside", "IndexKind", "check_arguments"]

IndexKind = str | None
"""What an objective's memory is kept by: ``"list"``, ``"item"`` or nothing."""


@dataclass(frozen=True)
class Beside:
    """What a call takes beside scores and target, each for every item (``index``: or list)."""

    mask: Tensor | None
    groups: Tensor | None
    weight: Tensor | None
    index: Tensor | None
    previous: Tensor | None  # scores of the same items under the previous parameters


def check_arguments(
    scores: Tensor,
    target: Tensor,
    beside: Beside,
    *,
    name: str,
    kind: IndexKind,
    keys: int,
    pointwise: bool,
    check_target: Callable[[Tensor], None],
) -> bool:
    """Raise on the first argument that cannot be used, in types, shapes and then values.

    ``name`` is the objective's, ``kind`` and ``keys`` are what its memory is kept by and how large
    it is; ``pointwise`` says that an item has a loss without any other. Returns whether masked
    items hold values that have to be replaced before anything is computed with them.
    """
    if beside.index is None and (kind == "item" or keys > 1):
        raise ValueError(
            f"index is needed: {name} remembers {keys} {kind}s; "
            f"pass the id of every {kind} of the batch"
        )
    _check_types(scores, target, beside)
    _check_shapes(scores, target, beside, kind)
    if not pointwise:
        require_list_dimension(scores, beside.mask)
    if kind is not None and beside.index is not None:
        require_index("index", beside.index, keys)
    fill_masked = check_values(scores, target, beside.mask, beside.weight, check_target)
    if beside.previous is not None:
        _check_previous(beside.previous, beside.mask)
    return fill_masked


def _check_types(scores: Tensor, target: Tensor, beside: Beside) -> None:
    given = {
        "scores": scores,
        "target": target,
        "mask": beside.mask,
        "groups": beside.groups,
        "weight": beside.weight,
        "index": beside.index,
        "previous_scores": beside.previous,
    }
    for name, value in given.items():
        if value is not None:
            require_tensor(name, value)
            require_same_device(name, value, "scores", scores)
    require_floating("scores", scores)
    if beside.previous is not None:
        require_floating("previous_scores", beside.previous)
    if beside.mask is not None:
        require_mask("mask", beside.mask)
    groups = beside.groups
    if groups is not None and (groups.is_floating_point() or groups.dtype == torch.bool):
        raise ValueError(f"groups must hold integers, got {groups.dtype}; pass groups.long()")


def _check_shapes(scores: Tensor, target: Tensor, beside: Beside, kind: IndexKind) -> None:
    if scores.dim() == 0:
        raise ValueError("scores must have at least one dimension, the list, got one number")
    by_item = {
        "target": target,
        "mask": beside.mask,
        "groups": beside.groups,
        "weight": beside.weight,
        "index": beside.index if kind == "item" else None,
        "previous_scores": beside.previous,
    }
    for name, value in by_item.items():
        if value is not None:
            require_same_shape(name, value, "scores", scores)
    if beside.groups is not None:
        if scores.dim() != 1:
            raise ValueError(
                f"groups is for one-dimensional scores, got shape {tuple(scores.shape)}"
            )
    elif kind == "list" and beside.index is not None and beside.index.shape != scores.shape[:-1]:
        raise ValueError(
            f"index must have one id per list, shape {tuple(scores.shape[:-1])}, "
            f"got {tuple(beside.index.shape)}"
        )


def _check_previous(previous: Tensor, mask: Tensor | None) -> None:
    try:
        require_finite("previous_scores", previous)
    except ValueError:
        if mask is None:
            raise
        require_finite("previous_scores", previous[mask])
