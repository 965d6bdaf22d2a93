"""The arguments of the engine, checked and brought into rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from rankwise.checks import (
    require_finite,
    require_floating,
    require_same_device,
    require_same_shape,
    require_values,
    trusted,
)
from rankwise.pairs.ragged import Side, size_classes


class PairInput(NamedTuple):
    """The arguments every function of the engine shares (see :func:`rankwise.pairs.pair_sum`)."""

    upper: Tensor
    lower: Tensor
    weight: Tensor | None
    lower_mask: Tensor | None
    upper_groups: Tensor | None
    lower_groups: Tensor | None


@dataclass(frozen=True)
class Rows:
    """A rectangle of lists: (rows, n⁺) uppers, (rows, n⁻) lowers and their weights, 0 if masked."""

    upper: Tensor
    lower: Tensor
    weight: Tensor | None  # None: every lower counts once

    def own(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return uppers, lowers and weights in the dtype of the scores, at least float32."""
        dtype, weight = self.upper.dtype, self.weight
        alike = dtype is self.lower.dtype and (weight is None or dtype is weight.dtype)
        if alike and dtype in (torch.float32, torch.float64):
            return self.upper, self.lower, weight
        dtype = torch.promote_types(torch.promote_types(dtype, self.lower.dtype), torch.float32)
        weight = None if weight is None else weight.to(dtype)
        return self.upper.to(dtype), self.lower.to(dtype), weight

    def precise(self, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Return uppers, lowers and weights, ones where none were given, in the dtype of sums."""
        weight = torch.ones_like(self.lower) if self.weight is None else self.weight
        if dtype is None:
            return accumulating(self.upper), accumulating(self.lower), accumulating(weight)
        return self.upper.to(dtype), self.lower.to(dtype), weight.to(dtype)


OfRows = Callable[[Rows], Tensor]
"""One value for every upper of a rectangle of lists."""

Combine = Literal["sum", "logsumexp"]
"""How the values of an upper over parts of its lowers make up the one over all of them."""


class ShareRows(Protocol):
    """Computes a function of rows together with other processes, which all have the same rows."""

    def __call__(self, of_rows: OfRows, combine: Combine, rows: Rows) -> Tensor:
        """Return ``of_rows(rows)``."""


share_rows: ContextVar[ShareRows | None] = ContextVar("share_rows", default=None)
"""Set where the processes of a call work on the same pairs (:mod:`rankwise.distributed`)."""


def over_lists(
    of_rows: OfRows,
    given: PairInput,
    combine: Combine = "sum",
    of_groups: Callable[[PairInput, tuple[Tensor, Tensor]], Tensor | None] | None = None,
) -> Tensor:
    """Bring the lists into rows, apply a function, and restore the order of the uppers.

    Results are in the dtype of the scores, at least float32. A function ``of_groups`` takes flat
    lists as they are, or returns None to have them brought into rows, too.
    """
    if (share := share_rows.get()) is not None:
        of_rows, of_groups = partial(share, of_rows, combine), None
    checked = not trusted.get()
    if checked:
        _check(given)
    dtype = torch.promote_types(given.upper.dtype, torch.float32)
    if given.upper_groups is None and given.lower_groups is None:
        if are_trusted_rows(given):
            return of_rows(Rows(given.upper, given.lower, given.weight)).to(dtype)
        rows, leading = _as_rows(*given[:4], checked=checked)
        return of_rows(rows).to(dtype).reshape(*leading, given.upper.shape[-1])
    groups = _groups(given)
    if of_groups is not None:
        if checked:
            _check_values(given)
        if (total := of_groups(given, groups)) is not None:
            return total.to(dtype)
    parts = [(of_rows(rows).to(dtype), side) for rows, side in _ragged_rows(given, *groups)]
    return _regroup(parts, given.upper)


def are_trusted_rows(given: PairInput) -> bool:
    """Return whether the arguments are rows of one dtype, checked by an objective."""
    if not trusted.get():  # they may be anything
        return False
    dtype, weight = given.upper.dtype, given.weight
    return (
        given.lower_mask is None
        and given.upper_groups is None
        and given.lower_groups is None
        and dtype in (torch.float32, torch.float64)
        and dtype is given.lower.dtype
        and (weight is None or weight.dtype is dtype)
        and given.upper.dim() == 2 == given.lower.dim()
        and given.upper.shape[0] == given.lower.shape[0]
    )


def accumulating(t: Tensor) -> Tensor:
    """Return the tensor in the dtype of sums: float64 where the device has it."""
    return t.to(torch.float32 if t.device.type == "mps" else torch.float64)


def _as_rows(
    upper: Tensor,
    lower: Tensor,
    weight: Tensor | None,
    lower_mask: Tensor | None,
    *,
    checked: bool = True,
) -> tuple[Rows, tuple[int, ...]]:
    """Broadcast and flatten the leading dimensions, and return them."""
    leading = tuple(upper.shape[:-1])
    try:
        if leading != tuple(lower.shape[:-1]):
            leading = tuple(torch.broadcast_shapes(leading, lower.shape[:-1]))
    except RuntimeError:
        raise ValueError(
            "upper and lower must agree in all dimensions but the last, "
            f"got upper {tuple(upper.shape)} and lower {tuple(lower.shape)}"
        ) from None
    if lower_mask is not None:
        lower = lower.masked_fill(~lower_mask, 0)
        weight = lower.new_ones(lower.shape) if weight is None else weight
        weight = weight.masked_fill(~lower_mask, 0)
    if checked:
        require_finite("upper", upper)
        require_finite("lower", lower, "leave entries out with lower_mask instead of using inf")
        if weight is not None:
            require_finite("weight", weight)
    if lower_mask is not None:
        # By the mean of their row, so that masked entries do not widen its range.
        present = lower_mask.sum(-1, keepdim=True).clamp_min(1)
        mean = accumulating(lower.detach()).sum(-1, keepdim=True) / present
        lower = torch.where(lower_mask, lower, mean.to(lower.dtype))
    count = math.prod(leading)
    upper, lower = (t.expand(*leading, -1).reshape(count, t.shape[-1]) for t in (upper, lower))
    if weight is not None:
        weight = weight.expand(*leading, -1).reshape(lower.shape)
    return Rows(upper, lower, weight), leading


def _check(given: PairInput) -> None:
    for name in ("upper", "lower", "weight", "lower_mask", "upper_groups", "lower_groups"):
        value = getattr(given, name)
        if value is None:
            continue
        if not isinstance(value, Tensor):
            raise ValueError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
        if name in ("upper", "lower", "weight"):
            require_floating(name, value)
        require_same_device(name, value, "upper", given.upper)
        require_values(name, value)
        if name in ("weight", "lower_mask", "lower_groups"):
            require_same_shape(name, value, "lower", given.lower)
        if name == "upper_groups":
            require_same_shape(name, value, "upper", given.upper)
        if value.dim() == 0:
            raise ValueError(f"{name} must have at least one dimension, got a single number")
    if given.lower_mask is not None and given.lower_mask.dtype != torch.bool:
        raise ValueError(f"lower_mask must be a boolean tensor, got {given.lower_mask.dtype}")


def _check_values(given: PairInput) -> None:
    lower, weight = given.lower, given.weight
    if given.lower_mask is not None:
        lower = lower.masked_fill(~given.lower_mask, 0)
        weight = None if weight is None else weight.masked_fill(~given.lower_mask, 0)
    require_finite("upper", given.upper)
    require_finite("lower", lower, "leave entries out with lower_mask instead of using inf")
    if weight is not None:
        require_finite("weight", weight)


def _groups(given: PairInput) -> tuple[Tensor, Tensor]:
    """Return the group ids of both sides, or raise."""
    upper_groups, lower_groups = given.upper_groups, given.lower_groups
    if upper_groups is None or lower_groups is None:
        missing = "upper_groups" if upper_groups is None else "lower_groups"
        raise ValueError(f"groups are needed on both sides: {missing} is missing")
    for name, groups in (("upper_groups", upper_groups), ("lower_groups", lower_groups)):
        if groups.dim() != 1:
            raise ValueError(f"{name} goes with one-dimensional scores, got {tuple(groups.shape)}")
        if groups.is_floating_point() or groups.dtype == torch.bool:
            raise ValueError(f"{name} must hold integers, got {groups.dtype}")
    return upper_groups, lower_groups


def _ragged_rows(
    given: PairInput, upper_groups: Tensor, lower_groups: Tensor
) -> list[tuple[Rows, Side]]:
    """Return flat lists with group ids as rectangles, each with the places of its uppers."""
    rectangles = []
    for _, (uppers, lowers) in size_classes(upper_groups, lower_groups):
        mask = lowers.mask
        if given.lower_mask is not None and len(given.lower_mask):
            present = given.lower_mask[lowers.positions]
            mask = present if mask is None else mask & present
        rows, _ = _as_rows(
            uppers.take(given.upper),
            lowers.take(given.lower),
            None if given.weight is None else lowers.take(given.weight),
            mask,
        )
        rectangles.append((rows, uppers))
    return rectangles


def _regroup(parts: list[tuple[Tensor, Side]], like: Tensor) -> Tensor:
    """Return the results of the rectangles in the flat order of their inputs."""
    if not parts:
        return like.new_zeros(0)
    if len(parts) == 1 and parts[0][1].in_order:
        return parts[0][0].reshape(-1)
    restored = [side.restore(values) for values, side in parts]
    values, positions = (torch.cat(each) for each in zip(*restored, strict=True))
    return torch.zeros_like(values).index_copy(0, positions, values)
