"""The parcels of all processes as the arguments of one call, the same on every process.

Every check happens here, on what all processes know of all: either none of them raises, or all do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import torch
from torch import Tensor

from rankwise.distributed.columns import WORDS
from rankwise.distributed.parcel import Parcel

__all__ = ["check_agreement", "concatenate", "join"]

_MUST_AGREE = {
    "objective": "the objective",
    "training": "the mode, train() being True and eval() False,",
    "gradient": "torch.is_grad_enabled()",
}


def check_agreement(parcels: list[Parcel]) -> None:
    """Whatever one process could not read, and whatever would let their memories drift apart."""
    problems = {rank: p.facts["problem"] for rank, p in enumerate(parcels) if p.facts["problem"]}
    if problems:
        raise ValueError(
            "; ".join(f"{problem} (rank {rank})" for rank, problem in problems.items())
        )
    for fact, words in _MUST_AGREE.items():
        _require_equal(words, {rank: p.facts[fact] for rank, p in enumerate(parcels)})
    _require_equal(
        "what is ranked",
        {rank: WORDS[str(p.facts["kind"])] for rank, p in _with_items(parcels).items()},
    )


def join(parcels: list[Parcel]) -> dict[str, Tensor]:
    """Every column over all processes with items, by rank; {} where there are no items at all.

    A ``mask`` or ``weight`` that only some brought is one elsewhere; lists shorter than those of
    other processes are padded with items that are not there.
    """
    parts = {rank: dict(p.columns) for rank, p in _with_items(parcels).items()}
    longest = 0
    if any(parcels[rank].facts["kind"] == "lists" for rank in parts):
        lengths = {columns["scores"].shape[1] for columns in parts.values()}
        longest = max(lengths)
        if len(lengths) > 1:
            for columns in parts.values():
                columns.setdefault("mask", torch.ones_like(columns["scores"], dtype=torch.bool))
    names = dict.fromkeys(name for columns in parts.values() for name in columns)
    return {name: _joined(name, parts, longest) for name in names}


def concatenate(name: str, parts: Mapping[int, Tensor]) -> Tensor:
    """Rows of different processes below each other, in the dtype that holds them all."""
    _require_equal(
        f"the shape of {name} after the first dimension",
        {rank: tuple(part.shape[1:]) for rank, part in parts.items()},
    )
    dtype = reduce(torch.promote_types, (part.dtype for part in parts.values()))
    return torch.cat([part.to(dtype) for part in parts.values()])


def _with_items(parcels: list[Parcel]) -> dict[int, Parcel]:
    """The parcels by rank, but for those without any item: these go along with the others."""
    return {rank: p for rank, p in enumerate(parcels) if p.columns["scores"].numel()}


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


def _require_equal(words: str, values: Mapping[int, object]) -> None:
    if len(set(values.values())) > 1:
        found = ", ".join(f"{value} on rank {rank}" for rank, value in values.items())
        raise ValueError(f"processes must agree on {words}, got {found}")
