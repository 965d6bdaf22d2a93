"""Tensors of all processes on every process, with a gradient or with a description."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.functional import pad

from rankwise.eager import Context, Function, eager_backward
from rankwise.metrics.gather import gather_equal, is_distributed

_PREFIX = 8  # bytes of the number that says how long the header is


@dataclass(frozen=True)
class Message:
    """Tensors of any dtype and shape that one process sends, and facts about them.

    A message is one row of bytes and so one ``all_gather``. It describes itself: processes that
    disagree can still read each other's messages, and report it instead of waiting forever.
    """

    facts: dict[str, str | bool | int | None]
    columns: dict[str, Tensor]

    def to_bytes(self, device: torch.device) -> Tensor:
        """Return the length of the header, the header (JSON) and the bytes of every column."""
        layout = {name: [str(t.dtype), list(t.shape)] for name, t in self.columns.items()}
        header = json.dumps([self.facts, layout]).encode()
        head = bytearray(len(header).to_bytes(_PREFIX, "little") + header)
        # A clone and not contiguous(), which leaves an expanded tensor of 0 or 1 values as it is.
        columns = (
            t.detach().clone(memory_format=torch.contiguous_format).flatten()
            for t in self.columns.values()
        )
        return torch.cat(
            [
                torch.frombuffer(head, dtype=torch.uint8).to(device),
                *(column.view(torch.uint8) for column in columns),
            ]
        )

    @staticmethod
    def from_bytes(data: Tensor) -> Iterator[Message]:
        """Yield the messages whose bytes follow each other in ``data``."""
        start = 0
        while start < len(data):
            length = int.from_bytes(_bytes(data[start : start + _PREFIX]), "little")
            start += _PREFIX + length
            facts, layout = json.loads(_bytes(data[start - length : start]))
            columns = {}
            for name, (kind, shape) in layout.items():
                dtype: torch.dtype = getattr(torch, kind.removeprefix("torch."))
                size = math.prod(shape) * dtype.itemsize
                # A copy starts at an address that any dtype may start at.
                columns[name] = data[start : start + size].clone().view(dtype).reshape(shape)
                start += size
            yield Message(facts, columns)


def all_gather(message: Message, device: torch.device, expected: int = 2048) -> list[Message]:
    """Return the messages of all processes, by rank; every process has to call.

    It is one collective where no message has more than the ``expected`` bytes, which have to be
    the same on all processes, else two.
    """
    data = message.to_bytes(device)
    length = torch.frombuffer(bytearray(len(data).to_bytes(_PREFIX, "little")), dtype=torch.uint8)
    first = torch.cat([length.to(device), data[:expected]])
    rows = gather_equal(pad(first, (0, _PREFIX + expected - len(first))))
    lengths = [int.from_bytes(_bytes(row[:_PREFIX]), "little") for row in rows]
    rows = [row[_PREFIX:] for row in rows]
    if max(lengths) > expected:
        rows = gather_equal(pad(data, (0, max(lengths) - len(data))))
    sent = torch.cat([row[:length] for row, length in zip(rows, lengths, strict=True)])
    return list(Message.from_bytes(sent))


def concatenate(name: str, parts: Mapping[int, Tensor]) -> Tensor:
    """Concatenate the rows of different processes in the dtype that holds them all."""
    require_equal(
        f"the shape of {name} after the first dimension",
        {rank: tuple(part.shape[1:]) for rank, part in parts.items()},
    )
    dtype = reduce(torch.promote_types, (part.dtype for part in parts.values()))
    return torch.cat([part.to(dtype) for part in parts.values()])


def require_equal(subject: str, values: Mapping[int, object]) -> None:
    """Raise unless the values of all ranks are equal."""
    if len(set(values.values())) > 1:
        received = ", ".join(f"{value} on rank {rank}" for rank, value in values.items())
        raise ValueError(f"processes must agree on {subject}, got {received}")


def gather_with_gradient(tensor: Tensor, *, shared: bool = False) -> Tensor:
    """Gather the rows of all processes, by rank, with a gradient through this process's own.

    Use it for tensors that are compared across processes before they are ranked, such as the
    embeddings of a batch: pass all of them, and their gathered labels, to
    :func:`~rankwise.objectives.embedding_scores`, and the result to an objective without
    :class:`AcrossProcesses`. Every process has to call.

    Args:
        tensor: Rows of this process, shape (n, …); n may differ between processes and may be 0.
        shared: Whether each process has a different part of the loss: it compares anchors of its
            own with all rows, under :class:`AcrossProcesses`. Then the gradients of a row are
            summed over the processes, and all of them have to run the backward pass. By default
            all processes compute the same loss. Then a row gets its gradient times the number of
            processes, which is right once they average the gradients of their parameters
            (``DistributedDataParallel``).

    Returns:
        The rows of all processes, shape (total, …); ``tensor`` itself without a process group.

    Raises:
        ValueError: If the shapes after the first dimension differ between processes.

    Example:
        >>> import torch
        >>> from rankwise.distributed import gather_with_gradient
        >>> embeddings = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
        >>> everything = gather_with_gradient(embeddings)  # in one process: its own rows
        >>> (everything @ everything.T).sum().backward()
        >>> embeddings.grad
        tensor([[2., 2.],
                [2., 2.]])
    """
    if not is_distributed():
        return tensor
    messages = all_gather(Message({}, {"tensor": tensor}), tensor.device)
    parts = [message.columns["tensor"] for message in messages]
    filled = {rank: part for rank, part in enumerate(parts) if part.numel()}
    if not filled:
        return tensor
    return with_gradient(tensor, concatenate("tensor", filled), parts, shared=shared)


def with_gradient(
    own: Tensor, everything: Tensor, parts: list[Tensor], *, shared: bool = False
) -> Tensor:
    """Return ``everything`` as a function of ``own``; ``parts`` are what each rank sent.

    ``everything`` is the concatenation of the parts that are not empty, padded on the right.
    """
    rank = dist.get_rank()
    mine = parts[rank]
    start = sum(len(part) for part in parts[:rank] if part.numel())
    place = slice(start, start + len(mine)), *(slice(0, size) for size in mine.shape[1:])
    if not mine.numel():
        place = (slice(0, 0),)
    return _Gathered.apply(own, everything, place, 0 if shared else len(parts))


_Kept = tuple[torch.Size, torch.dtype, tuple[slice, ...], int]


class _Gathered(Function):
    @staticmethod
    def forward(
        ctx: Context[_Kept], own: Tensor, everything: Tensor, place: tuple[slice, ...], times: int
    ) -> Tensor:
        ctx.kept = own.shape, own.dtype, place, times
        ctx.save_for_backward(own)
        return everything

    @staticmethod
    @eager_backward
    def backward(ctx: Context[_Kept], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (shape, dtype, place, times) = gradients, ctx.kept
        if not times:  # every process has a part of the loss, and so a part of the gradient
            gradient = gradient.contiguous()
            dist.all_reduce(gradient)
            times = 1
        return (gradient[place].reshape(shape) * times).to(dtype), None, None, None


def _bytes(data: Tensor) -> bytes:
    return data.cpu().numpy().tobytes()
