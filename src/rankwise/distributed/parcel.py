"""Tensors of any dtype and shape, and a few words about them, as one row of bytes.

One row is one all_gather, whatever a call brings along, and it describes itself: processes that
disagree read each other's parcels all the same, and can say so instead of waiting for ever.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.metrics.gather import gather_rows

__all__ = ["Fact", "Parcel", "exchange"]

Fact = str | bool | None

_PREFIX = 8  # bytes of the number that says how long the description is


@dataclass(frozen=True)
class Parcel:
    """What one process has to say."""

    facts: dict[str, Fact]
    columns: dict[str, Tensor]

    def packed(self, device: torch.device) -> Tensor:
        """Length of the description, description (JSON), bytes of every column."""
        layout = {name: [str(t.dtype), list(t.shape)] for name, t in self.columns.items()}
        words = json.dumps([self.facts, layout]).encode()
        head = bytearray(len(words).to_bytes(_PREFIX, "little") + words)
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


def exchange(parcel: Parcel, device: torch.device) -> list[Parcel]:
    """The parcels of all processes, by rank; every process has to call."""
    return list(unpack(gather_rows(parcel.packed(device))))


def unpack(data: Tensor) -> Iterator[Parcel]:
    """The parcels whose bytes follow each other in ``data``."""
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
        yield Parcel(facts, columns)


def _bytes(data: Tensor) -> bytes:
    return data.cpu().numpy().tobytes()
