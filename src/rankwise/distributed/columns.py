"""The arguments of one process as columns: tensors whose rows follow those of other processes."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_same_device, require_same_shape
from rankwise.objectives import Objective, OneVsRest
from rankwise.objectives._batch import CallArguments

__all__ = ["WORDS", "Kind", "check_lists", "read_columns", "restore_list_ids", "tokens"]

Kind = Literal["items", "groups", "lists", "classes"]

WORDS: dict[str, str] = {
    "items": "one-dimensional scores, parts of one list",
    "groups": "scores with groups, parts of many lists",
    "lists": "scores with leading dimensions, whole lists",
    "classes": "logits, items by classes",
}


def read_columns(
    objective: Objective | OneVsRest, arguments: dict[str, Tensor]
) -> tuple[Kind, dict[str, Tensor]]:
    """What the arguments are, and the same with one row per item, or per whole list.

    An id per list becomes one per item where a list can be spread over processes.
    """
    if isinstance(objective, OneVsRest):
        return "classes", _by_class(arguments)
    columns = dict(arguments)
    for by in ("list", "item"):  # accepted by every objective, used by those with a memory
        if objective.memory_by != by:
            columns.pop(f"{by}_ids", None)
    scores, groups = columns["scores"], columns.get("groups")
    if scores.dim() == 0:
        raise ValueError("scores must have at least one dimension, the list, got one number")
    by_list = columns.pop("list_ids", None)
    for name, column in columns.items():
        require_same_shape(name, column, "scores", scores)
        require_same_device(name, column, "scores", scores)
    if groups is not None and scores.dim() > 1:
        raise ValueError(f"groups is for one-dimensional scores, got shape {tuple(scores.shape)}")
    kind: Kind = "lists" if scores.dim() > 1 else "items" if groups is None else "groups"
    rows = scores.shape if kind != "lists" else (math.prod(scores.shape[:-1]), scores.shape[-1])
    columns = {name: column.reshape(rows) for name, column in columns.items()}
    if by_list is not None:
        require_same_device("list_ids", by_list, "scores", scores)
        columns["list_ids"] = _list_ids_by_row(by_list, scores, groups)
    return kind, columns


def restore_list_ids(columns: dict[str, Tensor]) -> dict[str, Tensor]:
    """Ids per item back to one per list, or per group, now that all items of a list are there."""
    list_ids = columns["list_ids"]
    if columns["scores"].dim() > 1:
        return columns
    groups = columns.get("groups")
    if groups is None:
        if not bool((list_ids == list_ids[0]).all()):
            found = torch.unique(list_ids).tolist()
            raise ValueError(
                "list_ids must be the same on every process, whose one-dimensional scores are "
                f"parts of one list; got {', '.join(map(str, found))}"
            )
        return {**columns, "list_ids": list_ids[0]}
    ids, which = torch.unique(groups, return_inverse=True)
    low, high = (
        list_ids.new_zeros(len(ids)).scatter_reduce(0, which, list_ids, end, include_self=False)
        for end in ("amin", "amax")
    )
    for group in (low != high).nonzero()[:1].flatten().tolist():
        raise ValueError(
            "list_ids must give a group the same id on every process, "
            f"got {low[group].item()} and {high[group].item()} for group {ids[group].item()}"
        )
    return {**columns, "list_ids": low}


def check_lists(objective: Objective | OneVsRest, columns: dict[str, Tensor]) -> None:
    """Raise here what the objective would raise in the middle, where the others wait for it."""
    assert isinstance(objective, Objective)
    if columns["scores"].numel() == 0:  # a process without lists needs no ids
        return
    names = ("mask", "groups", "weight", "list_ids", "item_ids", "previous_scores")
    arguments = CallArguments(*(columns.get(name) for name in names))
    objective.check(columns["scores"], columns["target"], arguments)


def tokens(columns: dict[str, Tensor]) -> dict[str, Tensor]:
    """One item of every column: enough to see what there is and of what kind."""
    return {
        name: column[:1, :1] if column.dim() > 1 else column[:1] for name, column in columns.items()
    }


def _by_class(arguments: dict[str, Tensor]) -> dict[str, Tensor]:
    logits = arguments["scores"]
    if logits.dim() != 2:
        raise ValueError(f"logits must have shape (items, classes), got {tuple(logits.shape)}")
    for name, column in arguments.items():
        require_same_device(name, column, "logits", logits)
        if column.shape not in {logits.shape, logits.shape[:1]}:
            raise ValueError(
                f"{name} must have one row for each of the {len(logits)} items, "
                f"got shape {tuple(column.shape)}"
            )
    return arguments


def _list_ids_by_row(list_ids: Tensor, scores: Tensor, groups: Tensor | None) -> Tensor:
    if groups is not None:
        ids, which = torch.unique(groups, return_inverse=True)
        if list_ids.shape != ids.shape:
            raise ValueError(
                f"list_ids must have one id per group, in ascending order of the {len(ids)} groups "
                f"of this process, got shape {tuple(list_ids.shape)}"
            )
        return list_ids[which]
    if list_ids.shape != scores.shape[:-1]:
        raise ValueError(
            f"list_ids must have one id per list, shape {tuple(scores.shape[:-1])}, "
            f"got {tuple(list_ids.shape)}"
        )
    return list_ids.expand(len(scores)) if scores.dim() == 1 else list_ids.reshape(-1)
