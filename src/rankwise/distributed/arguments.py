"""The arguments of a call of all processes: read, compared and joined.

Every check of the joined batch sees the messages of all processes: either none raises, or all do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_same_device, require_same_shape
from rankwise.distributed.gather import Message, concatenate, require_equal
from rankwise.metrics.metric import WORDS
from rankwise.objectives import FairnessConstraint, Objective, OneVsRest
from rankwise.objectives._batch import CallArguments

Kind = Literal["items", "groups", "lists", "classes"]
Wrapped = Objective | OneVsRest | FairnessConstraint
"""What can be computed over the joined batch of all processes."""

_DESCRIPTIONS = {**WORDS, "classes": "logits, items by classes"}
_MUST_AGREE = {
    "objective": "the objective",
    "training": "the mode, train() being True and eval() False,",
    "gradient": "torch.is_grad_enabled()",
    "sharded": "shard_memories(), True where it was called,",
}


def ranked(objective: Wrapped) -> Objective | OneVsRest:
    """Return the objective without its constraint."""
    return objective.objective if isinstance(objective, FairnessConstraint) else objective


def read_columns(
    objective: Wrapped, arguments: dict[str, Tensor]
) -> tuple[Kind, dict[str, Tensor]]:
    """Return the kind of the arguments, and columns with one row per item, or per whole list.

    An id per list becomes one per item where a list can be spread over processes.
    """
    constrained = isinstance(objective, FairnessConstraint)
    if constrained != ("attribute" in arguments):
        raise ValueError(
            "attribute is needed: FairnessConstraint wants the group of each item"
            if constrained
            else "attribute is for FairnessConstraint, got "
            f"{type(objective).__name__}; leave it out"
        )
    inner = ranked(objective)
    if isinstance(inner, OneVsRest):
        return "classes", _by_class(arguments)
    columns = dict(arguments)
    for by in ("list", "item"):  # accepted by every objective, used by those with a memory
        if inner.memory_by != by:
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
    """Turn ids per item of the joined batch back into one per list, or per group."""
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


def check_lists(objective: Wrapped, columns: dict[str, Tensor]) -> None:
    """Raise what the objective would raise later, while other processes wait for this one."""
    objective = ranked(objective)
    assert isinstance(objective, Objective)
    if columns["scores"].numel() == 0:  # a process without lists needs no ids
        return
    names = ("mask", "groups", "weight", "list_ids", "item_ids", "previous_scores")
    arguments = CallArguments(*(columns.get(name) for name in names))
    objective.check(columns["scores"], columns["target"], arguments)


def first_items(columns: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return one item of every column: enough to compare arguments and dtypes."""
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


def check_agreement(messages: list[Message]) -> None:
    """Raise on arguments that a process could not read, and where memories would diverge."""
    problems = {rank: p.facts["problem"] for rank, p in enumerate(messages) if p.facts["problem"]}
    if problems:
        raise ValueError(
            "; ".join(f"{problem} (rank {rank})" for rank, problem in problems.items())
        )
    for fact, words in _MUST_AGREE.items():
        require_equal(words, {rank: p.facts[fact] for rank, p in enumerate(messages)})
    require_equal(
        "what is ranked",
        {rank: _DESCRIPTIONS[str(p.facts["kind"])] for rank, p in _with_items(messages).items()},
    )


def join(messages: list[Message]) -> dict[str, Tensor]:
    """Concatenate every column over the processes with items, by rank; {} without any items.

    A ``mask`` or ``weight`` that is missing on some processes is 1 there; lists shorter than those
    of other processes are padded with absent items.
    """
    parts = {rank: dict(p.columns) for rank, p in _with_items(messages).items()}
    longest = 0
    if any(messages[rank].facts["kind"] == "lists" for rank in parts):
        lengths = {columns["scores"].shape[1] for columns in parts.values()}
        longest = max(lengths)
        if len(lengths) > 1:
            for columns in parts.values():
                columns.setdefault("mask", torch.ones_like(columns["scores"], dtype=torch.bool))
    names = dict.fromkeys(name for columns in parts.values() for name in columns)
    return {name: _joined(name, parts, longest) for name in names}


def _with_items(messages: list[Message]) -> dict[int, Message]:
    """Return the messages with items, by rank; a process without items agrees with all."""
    return {rank: p for rank, p in enumerate(messages) if p.columns["scores"].numel()}


def _joined(name: str, parts: Mapping[int, dict[str, Tensor]], longest: int) -> Tensor:
    given = {rank: columns[name] for rank, columns in parts.items() if name in columns}
    missing = [rank for rank in parts if rank not in given]
    if missing and name not in {"mask", "weight"}:
        raise ValueError(
            f"{name} must be given on every process that has items, or on none; "
            f"it is missing on rank {', '.join(map(str, missing))}"
        )
    dimensions = next(iter(given.values())).dim()
    for rank in missing:
        scores = parts[rank]["scores"]
        dtype = torch.bool if name == "mask" else scores.dtype
        given[rank] = torch.ones(scores.shape[:dimensions], dtype=dtype, device=scores.device)
    if longest and dimensions == 2:
        given = {
            rank: torch.nn.functional.pad(column, (0, longest - column.shape[1]))
            for rank, column in given.items()
        }
    return concatenate(name, {rank: given[rank] for rank in parts})
