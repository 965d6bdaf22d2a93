"""Objectives over the joined batch of all processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import torch
from torch import Tensor, nn

from rankwise.distributed.arguments import (
    Wrapped,
    check_agreement,
    check_lists,
    first_items,
    join,
    ranked,
    read_columns,
    restore_list_ids,
)
from rankwise.distributed.exchange import ProcessGroupExchange, most_rows, without_sent
from rankwise.distributed.gather import Message, all_gather, with_gradient
from rankwise.distributed.sharded_memory import loaded_rows, memory_ids, sharded_memories
from rankwise.distributed.shared_pairs import shared_pairs
from rankwise.eager import eager_only
from rankwise.metrics.gather import is_distributed
from rankwise.objectives import FairnessConstraint, Objective, OneVsRest, XRisk


class AcrossProcesses(nn.Module):
    """Objective over a batch that is spread over processes: the value and memory of one process.

    One-dimensional scores are parts of *one* list, scores with ``groups`` parts of lists with these
    ids (``list_ids`` then has one id for each group of this process); with leading dimensions every
    process has whole lists. With :class:`~rankwise.objectives.OneVsRest` the rows are items of the
    same classes. With :class:`~rankwise.objectives.FairnessConstraint` every call has
    ``attribute=``, and multipliers and averages are those of the joined batch. Processes may have
    different numbers of items, or none.

    Whole lists are not sent, except under a constraint: each process computes the risk of its own,
    and receives the memory updates of the others, in at most three messages. Lists that are spread
    over processes are gathered, and long sums over their pairs (:func:`~rankwise.pairs.pair_sum`,
    :func:`~rankwise.pairs.pair_logsumexp`) are computed together: each process takes a share of
    the lists, or of the longer side of few lists. What is not a sum over pairs, such as a selection
    by rank, is computed by every process. Either way memories stay equal if they start equal, and
    the gradient of a process's scores is multiplied by the number of processes: after
    ``DistributedDataParallel`` has averaged the gradients, they are those of the value.

    Every process has to call, in the same mode, and to run the backward pass if one does; one
    without items passes the model's output for an empty batch. If the objective has parameters
    (MinMaxAUC), their gradients have to be averaged like the model's: wrap one module that holds
    both. Without a process group it is the objective itself.

    Args:
        objective: The objective, under a constraint or not.

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

    def __init__(self, objective: Wrapped) -> None:
        super().__init__()
        if not isinstance(objective, (Objective, OneVsRest, FairnessConstraint)):
            raise ValueError(
                "objective must be an Objective, OneVsRest or FairnessConstraint, got "
                f"{type(objective).__name__}"
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
        attribute: Tensor | None = None,
    ) -> Tensor:
        """Compute the objective of the joined batch; see :meth:`Objective.forward`.

        ``attribute`` is for :class:`~rankwise.objectives.FairnessConstraint`.
        """
        given = {"target": target, "mask": mask, "groups": groups, "weight": weight}
        given |= {"list_ids": list_ids, "item_ids": item_ids, "previous_scores": previous_scores}
        given |= {"attribute": attribute}
        arguments = {name: value for name, value in given.items() if value is not None}
        loss: Tensor
        if not is_distributed():
            loss = self.objective(scores, **arguments)
            return loss
        message = self._message({"scores": scores, **arguments})
        # The metrics of groups are of the lists of all processes, so that these are joined.
        joins_lists = isinstance(self.objective, FairnessConstraint)
        own_lists = message.facts["kind"] == "lists" and not joins_lists
        if own_lists:
            # Whole lists are not sent: other processes only need to know whether they are valid.
            message = replace(message, columns=first_items(message.columns))
            if message.facts["sharded"] and scores.numel():
                message.columns["memory_ids"] = memory_ids(ranked(self.objective), arguments)
        if own_lists and scores.numel() and not message.facts["sharded"]:
            return self._share(scores, arguments, ProcessGroupExchange(message, check_headers))
        messages = all_gather(message, scores.device)
        check_headers(messages)
        whole_lists = [p.facts["kind"] == "lists" and p.columns["scores"].numel() for p in messages]
        if any(whole_lists) and not joins_lists:
            if not message.facts["sharded"]:
                return self._share(scores, arguments, ProcessGroupExchange(received=messages))
            with loaded_rows(self.objective, all_memory_ids(messages)):
                exchange = ProcessGroupExchange(rows=most_rows(messages))
                return self._share(scores, arguments, exchange)
        columns = join(messages)
        if not columns:  # nothing to rank anywhere: 0, with a graph
            return scores.sum(dtype=torch.promote_types(scores.dtype, torch.float32))
        if "list_ids" in columns:
            columns = restore_list_ids(columns)
        parts = [message.columns["scores"] for message in messages]
        everything = with_gradient(scores, columns.pop("scores"), parts)
        # Where only some processes have a backward pass, they cannot wait for each other in it.
        together = len({p.facts["backward"] for p in messages}) == 1
        with ExitStack() as stack:
            if message.facts["sharded"]:
                ids = memory_ids(ranked(self.objective), {"scores": everything, **columns})
                stack.enter_context(loaded_rows(self.objective, ids))
            if together:
                stack.enter_context(shared_pairs())
            loss = self.objective(everything, **columns)
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
        facts = {**self._facts("batches", problem), "rows": len(anchors)}
        message = Message(facts, {"scores": anchors.new_empty(0)})

        def call(objective: XRisk) -> Tensor:
            return objective.of_batches(anchors, others, item_ids=item_ids, previous=previous)

        if problem is None and not facts["sharded"]:
            return self._exchanging(ProcessGroupExchange(message, check_headers), call)
        if item_ids is not None:
            message.columns["memory_ids"] = item_ids
        messages = all_gather(message, anchors.device)
        check_headers(messages)
        with loaded_rows(self.objective, all_memory_ids(messages)):
            return self._exchanging(ProcessGroupExchange(rows=most_rows(messages)), call)

    def _share(
        self, scores: Tensor, arguments: dict[str, Tensor], exchange: ProcessGroupExchange
    ) -> Tensor:
        """Return the mean over the lists of all processes, each computing the risk of its own."""
        if scores.numel() == 0:  # no lists, whatever the shape
            arguments = {"target": arguments["target"].reshape(0, 1)}
            scores = scores.reshape(0, 1)
            if getattr(self.objective, "memory_by", None) == "list":
                arguments["list_ids"] = torch.zeros(0, dtype=torch.long, device=scores.device)
            elif getattr(self.objective, "memory_by", None) == "item":
                arguments["item_ids"] = torch.zeros(0, 1, dtype=torch.long, device=scores.device)
        return self._exchanging(exchange, lambda objective: objective(scores, **arguments))

    def _exchanging(self, exchange: ProcessGroupExchange, call: Callable[..., Tensor]) -> Tensor:
        """Call the objective with the lists of other processes in view."""
        assert isinstance(self.objective, Objective)
        self.objective.exchange = exchange
        try:
            return call(self.objective)
        finally:
            self.objective.exchange = None

    def _message(self, arguments: dict[str, Tensor]) -> Message:
        # Errors are sent, too: the other processes wait for this one and have to raise as well.
        problem = kind = None
        try:
            kind, columns = read_columns(self.objective, arguments)
            if kind == "lists":
                check_lists(self.objective, columns)
        except ValueError as error:
            problem, kind, columns = str(error), None, {"scores": arguments["scores"].new_empty(0)}
        facts = {**self._facts(kind, problem), "backward": arguments["scores"].requires_grad}
        if kind == "lists" and isinstance(self.objective, Objective):
            # The updates of a memory: one for each list, or for each positive.
            by_item = getattr(self.objective, "memory_by", None) == "item"
            rows = (columns["target"] > 0).sum() if by_item else len(columns["scores"])
            facts["rows"] = int(rows)
        return Message(facts, columns)

    def _facts(self, kind: str | None, problem: str | None) -> dict[str, str | bool | int | None]:
        return {
            "problem": problem,
            "kind": kind,
            "objective": type(self.objective).__name__,
            "training": self.objective.training,
            "gradient": torch.is_grad_enabled(),
            "sharded": bool(sharded_memories(self.objective)),
        }


def check_headers(messages: list[Message]) -> None:
    """Raise on all processes where the calls of some do not fit together."""
    headers = [without_sent(message) for message in messages]
    check_agreement(headers)
    join([replace(header, columns=first_items(header.columns)) for header in headers])


def all_memory_ids(messages: list[Message]) -> Tensor:
    """Return the ids of the memory that the calls of all processes use."""
    return torch.cat([p.columns["memory_ids"] for p in messages if "memory_ids" in p.columns])
