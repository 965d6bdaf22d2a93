"""The arguments of a metric as checked tensors on one device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import (
    require_binary,
    require_list_dimension,
    require_mask,
    require_no_nan,
    require_same_device,
    require_same_shape,
)

NumpyArray = NDArray[Any]  # of any numbers
Array = TypeVar("Array", Tensor, NumpyArray)
Ties = Literal["standard", "against"]
Average = Literal["macro", "micro", "none"]
UNLABELED, OUTSIDE = -1, -2  # targets of items of the pool without a label, and of others


@dataclass(frozen=True)
class Items:
    """Scores with their targets: the last dimension is a list, or ``groups`` says which list."""

    scores: Tensor  # float32 or float64
    target: Tensor
    mask: Tensor | None = None
    groups: Tensor | None = None
    weight: Tensor | None = None

    def pooled(self) -> Items:
        """Return all items as one list."""
        given = {name: t.flatten() for name, t in vars(self).items() if t is not None}
        given.pop("groups", None)
        return Items(**given)

    def checked(self, *, graded: bool, unlabeled: bool = False) -> Items:
        """Return the items with every value checked and the mask turned into weights of zero.

        With ``unlabeled`` items may have no label, a target below 0. The values of masked items
        never matter, so padding may hold NaN or a target of −100.
        """
        scores, target, weight = self.scores, self.target, self.weight
        if self.mask is not None:
            absent = ~self.mask
            scores = scores.masked_fill(absent, -torch.inf)
            target = target.masked_fill(absent, 0)
            weight = self.mask.double() if weight is None else weight.masked_fill(absent, 0)
        require_no_nan("scores", scores)
        if graded:
            _require_amounts("target", target)
        elif unlabeled:
            _require_labels(target)
        else:
            require_binary("target", target)
        if weight is not None:
            _require_amounts("weight", weight)
        return replace(self, scores=scores, target=target, mask=None, weight=weight)


def read_items(scores: object, target: object, *data: object, pooled: bool = False) -> Items:
    """Return tensors of matching shape and device; :meth:`Items.checked` checks the values.

    ``data``: mask, groups and weight. ``pooled``: all items will be one list, whatever their shape.
    """
    s = to_tensor(scores, "scores")
    if s.is_complex():
        raise ValueError(f"scores must be real numbers, got {s.dtype}; pass scores.real")
    if s.dtype not in (torch.float32, torch.float64):
        s = s.float() if s.is_floating_point() else s.double()
    if s.ndim == 0:
        raise ValueError("scores must have at least one dimension, the list, got a single number")
    given = zip(("target", "mask", "groups", "weight"), (target, *data), strict=False)
    tensors = {name: to_tensor(value, name) for name, value in given if value is not None}
    for name, value in tensors.items():
        require_same_shape(name, value, "scores", s)
        require_same_device(name, value, "scores", s)
    if "mask" in tensors:
        require_mask("mask", tensors["mask"])
    if not pooled:
        require_list_dimension(s, tensors.get("mask"))
    if "groups" in tensors:
        _require_group_ids(tensors["groups"])
    return Items(s, **tensors)


def to_tensor(value: object, name: str = "values") -> Tensor:
    """Return a tensor that shares memory with the caller's array where it can."""
    if isinstance(value, Tensor):
        return value.detach()
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise ValueError(
            f"{name} must hold numbers or truth values, got {array.dtype} such as "
            f"{array.ravel()[:1].tolist()}; convert them, such as target == 'yes'"
        )
    if array.dtype.kind == "u" and array.dtype.itemsize > 1:
        array = array.astype(np.int64)  # torch knows few operations on wide unsigned integers
    # torch warns of read-only memory and refuses negative strides: np.require copies only those.
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))


def from_tensor(value: Tensor, like: Array) -> Array:
    """Return the value as the kind of array the caller uses."""
    if isinstance(like, Tensor):
        return value
    result: NumpyArray = value.cpu().numpy()[()]  # a number rather than an array without axes
    return result


def _require_amounts(name: str, value: Tensor) -> None:
    if value.dtype == torch.bool or value.numel() == 0:
        return
    if not bool((value >= 0).all() & value.isfinite().all()):
        raise ValueError(
            f"{name} must be finite and >= 0, got values from {value.min()} to {value.max()}"
        )


def _require_labels(target: Tensor) -> None:
    known = (target == 1) | (target == 0) | (target == UNLABELED) | (target == OUTSIDE)
    if not bool(known.all()):
        raise ValueError(
            "target must be 1 or 0, or below 0 without a label: -1 in the pool, -2 outside of it; "
            f"got {target[~known][0]}"
        )


def _require_group_ids(groups: Tensor) -> None:
    if groups.ndim != 1:
        raise ValueError(
            f"groups is for one-dimensional scores, got shape {tuple(groups.shape)}; "
            "leading dimensions already are separate lists"
        )
    if groups.is_floating_point() or groups.dtype == torch.bool:
        raise ValueError(f"groups must be integer ids, got {groups.dtype}")
