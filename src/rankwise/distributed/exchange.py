"""What processes with whole lists of their own send each other, in at most three messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
import torch.distributed as dist
from torch import Tensor

from rankwise.distributed.gather import Message, all_gather
from rankwise.memory import MemoryUpdate
from rankwise.metrics.gather import gather_equal

Check = Callable[[list[Message]], None]
"""Raises on all processes if the headers of some do not fit."""

_HEAD = 1024  # bytes of a message that are not numbers


class ProcessGroupExchange:
    """The :class:`~rankwise.objectives.base.Exchange` of the running process group.

    Only memory updates and sums are sent, a few numbers for each list, never the scores. The
    header, with which processes check that their calls fit together, is part of the first message.

    Args:
        header: Header of this process; its facts ``rows`` say how many updates it will send at
            most, as far as it knows.
        check: Called with the headers of all processes before anything else of them is used.
        received: The first messages of all processes, if they are known: this process then had
            nothing to add to its header.
        rows: What the headers say, if they were sent before.
    """

    def __init__(
        self,
        header: Message | None = None,
        check: Check | None = None,
        received: list[Message] | None = None,
        rows: int = 0,
    ) -> None:
        self._header, self._check, self._received = header, check, received
        self._rows = rows if received is None else most_rows(received)

    def rows(self, ids: Tensor, values: Tensor) -> tuple[Tensor, Tensor, slice]:
        """Return ids and values of all processes, by rank, and where this process's own are."""
        numbers = self._rows * (1 + values.shape[1])
        found = self._send({"ids": ids, "values": values.detach().double()}, numbers)
        lengths = [len(columns["ids"]) for columns in found]
        start = sum(lengths[: dist.get_rank()])
        ids, values = (
            torch.cat([columns[name] for columns in found]) for name in ("ids", "values")
        )
        return ids, values, slice(start, start + lengths[dist.get_rank()])

    def total(self, values: Tensor) -> Tensor:
        """Return the sums over all processes, without a gradient."""
        if self._header is None and self._received is None:
            # Not all_reduce, whose order of adding, and so the last bit, depends on the backend.
            everything = torch.stack(gather_equal(values.detach().double()))
            return everything.sum(0).to(values.dtype)
        found = self._send({"values": values.detach().double().reshape(1, -1)}, values.numel())
        total = torch.cat([columns["values"] for columns in found]).sum(0)
        return total.reshape(values.shape).to(values.dtype)

    def join(
        self, updates: Sequence[MemoryUpdate], total: Tensor, count: int
    ) -> tuple[list[MemoryUpdate], Tensor, int]:
        """Return the updates of all processes, the sum of their totals and that of their counts.

        A process only has the gradient of its own lists; times the number of processes, so that
        averaging over them (DistributedDataParallel) gives the gradient of the sum.
        """
        own = total.double()
        columns = {"sums": torch.stack([own.detach(), torch.full_like(own, count)]).reshape(1, 2)}
        for number, update in enumerate(updates):
            columns[f"ids {number}"] = update.ids
            columns[f"values {number}"] = update.estimates.detach().double()
        numbers = self._rows * sum(1 + update.estimates.shape[1] for update in updates)
        found = self._send(columns, numbers)
        joined = [
            MemoryUpdate(
                update.memory,
                torch.cat([columns[f"ids {number}"] for columns in found]),
                torch.cat([columns[f"values {number}"] for columns in found]),
            )
            for number, update in enumerate(updates)
        ]
        everything, lists = torch.cat([columns["sums"] for columns in found]).sum(0)
        share = own * dist.get_world_size()
        return joined, share - share.detach() + everything, int(lists)

    def _send(self, columns: dict[str, Tensor], numbers: int) -> list[dict[str, Tensor]]:
        """Return the columns of all processes; empty ones of those that had nothing to send."""
        device = next(iter(columns.values())).device
        if self._received is not None:
            messages, self._received = self._received, None
        elif self._header is not None:
            first = {**self._header.columns, **{_SENT + name: c for name, c in columns.items()}}
            messages = all_gather(replace(self._header, columns=first), device)
            self._header = None
            if self._check is not None:
                self._check(messages)
            self._rows = most_rows(messages)
        else:
            sent = {_SENT + name: column for name, column in columns.items()}
            messages = all_gather(Message({}, sent), device, _HEAD + 8 * numbers)
        return [
            {name: m.columns.get(_SENT + name, column[:0]) for name, column in columns.items()}
            for m in messages
        ]


_SENT = "sent "


def without_sent(message: Message) -> Message:
    """Return the header of a message alone."""
    columns = {n: c for n, c in message.columns.items() if not n.startswith(_SENT)}
    return replace(message, columns=columns)


def most_rows(messages: list[Message]) -> int:
    """Return the largest number of updates that a process says it will send."""
    return max(int(message.facts.get("rows") or 0) for message in messages)
