"""Tensors gathered from all processes."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


def is_distributed() -> bool:
    """Return whether there is more than one process."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def gather_rows(tensor: Tensor) -> Tensor:
    """Return one-dimensional tensors of any length from all processes, joined by rank.

    Only tensors travel: lengths first, then rows padded to the longest, since all_gather wants
    equal shapes.
    """
    length = torch.tensor([len(tensor)], device=tensor.device)
    lengths = torch.cat(gather_equal(length)).tolist()
    padded = torch.nn.functional.pad(tensor, (0, max(lengths) - len(tensor)))
    rows = gather_equal(padded)
    return torch.cat([row[:size] for row, size in zip(rows, lengths, strict=True)])


def gather_equal(tensor: Tensor) -> list[Tensor]:
    """Return tensors of the same shape and dtype from all processes, by rank."""
    received = [torch.empty_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(received, tensor)
    return received
