"""Objectives over the joined batch of all processes: its arguments, checked and joined.

Every check of the joined batch sees the messages of all processes: either none raises, or all do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor, nn

from rankwise.checks import require_same_device, require_same_shape
from rankwise.distributed.gather import (
    Message,
    ProcessGroupExchange,
    all_gather,
    concatenate,
    require_equal,
    with_gradient,
)
from rankwise.eager import eager_only
from rankwise.metrics.gather import is_distributed
from rankwise.metrics.metric import WORDS
from rankwise.objectives import Objective, OneVsRest, XRisk
from rankwise.objectives._batch import CallArguments


class AcrossProcesses(nn.Module):
    """Objective over a batch that is spread over processes: the value and memory of one process.

    One-dimensional scores are parts of *one* list, scores with ``groups`` parts of lists with these
    ids (``list_ids`` then has one id for each group of this process); with leading dimensions every
    process has whole lists. With :class:`~rankwise.objectives.OneVsRest` the rows are items of the
    same classes. Processes may have different numbers of items, or none.

    Whole lists are not sent: each process computes the risk of its own, and receives the memory
    updates of the others. Lists that are spread over processes are gathered, and all processes
    evaluate them. Either way memories stay equal if they start equal, and the gradient of a
    process's scores is multiplied by the number of processes: after ``DistributedDataParallel`` has
    averaged the gradients, they are those of the value.

    Every process has to call, in the same mode; one without items passes the model's output for an
    empty batch. If the objective has parameters (MinMaxAUC), their gradients have to be averaged
    like the model's: wrap one module that holds both. Without a process group it is the objective
    itself.

    Args:
        objective: The objective.

    Raises:
        ValueError: On all processes, if the arguments of one are invalid or they disagree.

    Example:
        >>> import torch
        >>> from rankwise.distributed import AcrossProcesses
        >>> from rankwise.objectives import PairwiseAUC
        >>> loss = AcrossProcesses(PairwiseAUC())
        >>> loss(torch.tensor([0.5, 0.0]), torch.tensor([1, 0]))  # squared hinge: (1 − 0.5)²
        tensor(0.2500)
    """

    def __init__(self, objective: Objective | OneVsRest) -> None:
        super().__init__()
        if not isinstance(objective, (Objective, OneVsRest)):
            raise ValueError(
                f"objective must be an Objective or OneVsRest, got {type(objective).__name__}"
            )
        self.objective = objective

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
        """Compute the objective of the joined batch; see :meth:`Objective.forward`."""
        given = {"target": target, "mask": mask, "groups": groups, "weight": weight}
        given |= {"list_ids": list_ids, "item_ids": item_ids, "previous_scores": previous_scores}
        arguments = {name: value for name, value in given.items() if value is not None}
        loss: Tensor
        if not is_distributed():
            loss = self.objective(scores, **arguments)
            return loss
        message = self._message({"scores": scores, **arguments})
        if message.facts["kind"] == "lists":
            # Whole lists are not sent: other processes only need to know whether they are valid.
            message = replace(message, columns=first_items(message.columns))
        messages = all_gather(message, scores.device)
        check_agreement(messages)
        if any(p.facts["kind"] == "lists" and p.columns["scores"].numel() for p in messages):
            join(messages)  # for its checks: the same arguments on all processes
            return self._share(scores, arguments)
        columns = join(messages)
        if not columns:  # nothing to rank anywhere: 0, with a graph
            return scores.sum(dtype=torch.promote_types(scores.dtype, torch.float32))
        if "list_ids" in columns:
            columns = restore_list_ids(columns)
        parts = [message.columns["scores"] for message in messages]
        loss = self.objective(with_gradient(scores, columns.pop("scores"), parts), **columns)
        return loss

    @eager_only
    def of_batches(
        self,
        anchors: Tensor,
        others: Tensor,
        *,
        item_ids: Tensor | None = None,
        previous: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Compute :meth:`rankwise.objectives.XRisk.of_batches` over the anchors of all processes.

        ``others`` may be those of this process, or those of all processes from
        :func:`~rankwise.distributed.gather_with_gradient`.
        """
        if not isinstance(self.objective, XRisk):
            raise ValueError(
                f"of_batches is for XRisk, got {type(self.objective).__name__}; "
                "call this one with scores and target"
            )
        if not is_distributed():
            return self.objective.of_batches(anchors, others, item_ids=item_ids, previous=previous)
        problem = None
        try:
            self.objective.check_batches(anchors, item_ids)
        except ValueError as error:
            problem = str(error)
        message = Message(self._facts("batches", problem), {"scores": anchors.new_empty(0)})
        check_agreement(all_gather(message, anchors.device))
        self.objective.exchange = ProcessGroupExchange()
        try:
            return self.objective.of_batches(anchors, others, item_ids=item_ids, previous=previous)
        finally:
            self.objective.exchange = None

    def _share(self, scores: Tensor, arguments: dict[str, Tensor]) -> Tensor:
        """Return the mean over the lists of all processes, each computing the risk of its own."""
        if scores.numel() == 0:  # no lists, whatever the shape
            arguments = {"target": arguments["target"].reshape(0, 1)}
            scores = scores.reshape(0, 1)
            if getattr(self.objective, "memory_by", None) == "list":
                arguments["list_ids"] = torch.zeros(0, dtype=torch.long, device=scores.device)
            elif getattr(self.objective, "memory_by", None) == "item":
                arguments["item_ids"] = torch.zeros(0, 1, dtype=torch.long, device=scores.device)
        assert isinstance(self.objective, Objective)
        self.objective.exchange = ProcessGroupExchange()
        try:
            loss: Tensor = self.objective(scores, **arguments)
        finally:
            self.objective.exchange = None
        return loss

    def _message(self, arguments: dict[str, Tensor]) -> Message:
        # Errors are sent, too: the other processes wait for this one and have to raise as well.
        problem, kind, columns = None, None, {"scores": arguments["scores"].new_empty(0)}
        try:
            kind, columns = read_columns(self.objective, arguments)
            if kind == "lists":
                check_lists(self.objective, columns)
        except ValueError as error:
            problem = str(error)
        return Message(self._facts(kind, problem), columns)

    def _facts(self, kind: str | None, problem: str | None) -> dict[str, str | bool | None]:
        return {
            "problem": problem,
            "kind": kind,
            "objective": type(self.objective).__name__,
            "training": self.objective.training,
            "gradient": torch.is_grad_enabled(),
        }


Kind = Literal["items", "groups", "lists", "classes"]

_DESCRIPTIONS = {**WORDS, "classes": "logits, items by classes"}
_MUST_AGREE = {
    "objective": "the objective",
    "training": "the mode, train() being True and eval() False,",
    "gradient": "torch.is_grad_enabled()",
}


def read_columns(
    objective: Objective | OneVsRest, arguments: dict[str, Tensor]
) -> tuple[Kind, dict[str, Tensor]]:
    """Return the kind of the arguments, and columns with one row per item, or per whole list.

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


def check_lists(objective: Objective | OneVsRest, columns: dict[str, Tensor]) -> None:
    """Raise what the objective would raise later, while other processes wait for this one."""
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
