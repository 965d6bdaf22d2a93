"""Checks of arguments: each message names the argument, what was received and what to pass."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.autograd import forward_ad

_BLOCK = 1 << 22  # values copied at a time
LARGEST_SCORE = 1e15
"""Of scores of an objective: sums of squares of their differences are single-precision numbers."""
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-30, 1e15
"""Of weights of an objective, but for 0: so are sums and ratios of weights."""


_reads_values: ContextVar[bool] = ContextVar("rankwise_reads_values", default=True)
trusted: ContextVar[bool] = ContextVar("rankwise_trusted", default=False)
"""True inside the call of an objective, after it has checked its arguments: no more checks."""


class _Open:
    """Number of open :func:`no_checks` blocks: what torch.compile can guard a graph by."""

    blocks = 0


@contextmanager
def no_checks() -> Iterator[None]:
    """Skip the checks that read tensor values; shapes, dtypes and devices are still checked.

    Reading a value waits for the device that computes it. A training loop that ran an epoch with
    the checks can do without them. Inside the block NaN, infinite scores, invalid labels and ids
    out of range raise no error and give a wrong number. The setting belongs to the current context:
    other threads and asyncio tasks keep their own.

    Returns:
        A context manager.

    Example:
        >>> import torch, rankwise
        >>> from rankwise.objectives import PairwiseAUC
        >>> scores, target = torch.tensor([float("nan"), 0.0]), torch.tensor([1, 0])
        >>> with rankwise.no_checks():
        ...     PairwiseAUC()(scores, target)
        tensor(nan)
    """
    token = _reads_values.set(False)
    _Open.blocks += 1
    try:
        yield
    finally:
        _Open.blocks -= 1
        _reads_values.reset(token)


def values_are_checked() -> bool:
    """Return whether tensor values are checked here, outside :func:`no_checks`."""
    if torch.compiler.is_dynamo_compiling():  # which cannot trace a context variable
        return _Open.blocks == 0
    return _reads_values.get() and not trusted.get()


def reads_values() -> bool:
    """Return whether a check may read a tensor, outside :func:`no_checks`, also in a call."""
    return _reads_values.get()


def warn_caller(message: str) -> None:
    """Issue a ``RuntimeWarning`` at the line that called into rankwise, at any depth."""
    frame, level, library = sys._getframe(1), 2, ("rankwise.", "torch.")
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(library):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, RuntimeWarning, stacklevel=level)


def require_tensor(name: str, value: object) -> None:
    """Raise unless a value is a tensor; other types fail deep inside an operation."""
    if not isinstance(value, Tensor):
        raise ValueError(
            f"{name} must be a torch.Tensor, got {type(value).__name__}; "
            f"pass torch.as_tensor({name})"
        )


def require_values(name: str, value: Tensor) -> None:
    """Raise on a tensor whose values cannot be sorted and counted here and now."""
    if torch.compiler.is_dynamo_compiling():  # whose tensors are checked when the graph runs
        return
    if is_functorch_wrapped_tensor(value) or forward_ad._current_level >= 0:
        raise RuntimeError(
            f"{name} must be a plain tensor, got one inside torch.func (grad, vmap, jvp) or "
            "forward-mode differentiation, which rankwise has no rules for; use "
            "torch.autograd.grad, and leading dimensions in place of vmap"
        )
    if value.device.type == "meta":
        raise ValueError(
            f"{name} must hold values, got a tensor on the meta device, which has none; "
            "pass a tensor on the device of the model"
        )


def require_list_dimension(scores: Tensor, mask: Tensor | None) -> None:
    """Raise where the last dimension, the list, has one item: the output of ``nn.Linear(d, 1)``.

    Lists in which no item is present are an empty batch and pass.
    """
    if scores.dim() < 2 or scores.shape[-1] != 1 or scores.numel() == 0:
        return
    if mask is not None and not bool(mask.any()):
        return
    raise ValueError(
        f"scores must have the list as their last dimension, got shape {tuple(scores.shape)}: "
        f"{math.prod(scores.shape[:-1])} lists of one item each, which cannot be ranked; for one "
        "list of these items pass `scores.squeeze(-1)`, and the target and all other arguments "
        "in the same shape"
    )


def require_mask(name: str, value: Tensor) -> None:
    """Raise unless a mask is boolean: True for items that are present."""
    if value.dtype != torch.bool:
        raise ValueError(f"{name} must be boolean, got {value.dtype}; pass {name}.bool()")


def require_floating(name: str, value: Tensor) -> None:
    """Raise unless scores are floating-point: integers are nearly always labels by mistake."""
    if not value.is_floating_point():
        raise ValueError(
            f"{name} must be a floating-point tensor, got {value.dtype}; "
            f"pass {name}.float() if these really are scores"
        )


def require_no_nan(
    name: str,
    value: Tensor,
    advice: str = "a model that returns NaN cannot be ranked, look for an overflow before it",
) -> None:
    """Raise on NaN, which would silently get a rank."""
    if values_are_checked() and value.isnan().any():
        count = int(value.isnan().sum())
        raise ValueError(f"{name} contains NaN ({count} of {value.numel()} values); {advice}")


def require_finite(
    name: str, value: Tensor, advice: str = "mask entries instead of using inf"
) -> None:
    """Raise on NaN and on infinities, whose differences are NaN."""
    if not values_are_checked():
        return
    # A sum is finite only if every term is (a finite sum that overflows is looked at again), and
    # one reduction costs a third of an elementwise isfinite.
    half = value.dtype in (torch.float16, torch.bfloat16)  # whose sums overflow early
    total = value.sum(dtype=torch.float32 if half else value.dtype)
    if value.numel() == 0 or math.isfinite(total.item()):
        return
    require_no_nan(name, value)
    if value.isinf().any():
        count = int(value.isinf().sum())
        raise ValueError(f"{name} contains infinite values ({count} of {value.numel()}); {advice}")


def require_scores(name: str, value: Tensor) -> None:
    """Raise on scores that are NaN or so large that sums of their squares overflow."""
    if value.numel() == 0 or not values_are_checked():
        return
    low, high = value.aminmax()  # both are NaN if any value is
    if torch.maximum(high, -low).item() <= LARGEST_SCORE:
        return
    require_finite(name, value)
    raise ValueError(
        f"{name} must lie between -{LARGEST_SCORE:g} and {LARGEST_SCORE:g}, got values from "
        f"{low.item():.4g} to {high.item():.4g}; mask entries instead of filling them with a huge "
        "number, or look for a model that diverges"
    )


def require_weights(name: str, value: Tensor) -> None:
    """Raise on weights that are negative, not finite, or whose sums or ratios overflow."""
    if not value.is_floating_point() or value.numel() == 0 or not values_are_checked():
        require_not_negative(name, value)
        return
    low, high = (end.item() for end in value.aminmax())  # both are NaN if any value is
    if low == 0:
        low = value.masked_fill(value == 0, torch.inf).min().item()
    if low >= SMALLEST_WEIGHT and high <= LARGEST_WEIGHT:
        return
    if high == 0:  # no item is present
        return
    require_not_negative(name, value)
    raise ValueError(
        f"{name} must be 0 or between {SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}, got values from "
        f"{low:.4g} to {high:.4g}; scale them, a weight of 2 counts as the item twice"
    )


def require_shape(name: str, value: Tensor, *shape: int | str) -> None:
    """Raise unless a tensor has this shape, in which a word stands for any number."""
    pairs = zip(shape, value.shape, strict=False)
    if value.dim() != len(shape) or any(isinstance(n, int) and n != size for n, size in pairs):
        wanted = str(shape).replace("'", "")
        raise ValueError(f"{name} must have shape {wanted}, got {tuple(value.shape)}")


def require_same_shape(name: str, value: Tensor, other_name: str, other: Tensor) -> None:
    """Raise unless two shapes are equal, with both of them."""
    if value.shape != other.shape:
        raise ValueError(
            f"{name} must have the shape of {other_name}, "
            f"got {name} {tuple(value.shape)} and {other_name} {tuple(other.shape)}"
        )


def require_same_device(name: str, value: Tensor, other_name: str, other: Tensor) -> None:
    """Raise unless two tensors are on one device; others fail deep inside an operation."""
    if value.device != other.device:
        raise ValueError(
            f"{name} is on {value.device} but {other_name} is on {other.device}; "
            f"move one with .to(...)"
        )


def is_binary(value: Tensor, *, whole: bool) -> bool:
    """Return whether all values are 0 or 1; for ``whole`` numbers the range is enough."""
    if value.numel() == 0:
        return True
    if whole:
        low, high = value.aminmax()
        return low.item() >= 0 and high.item() <= 1
    # In blocks, since a copy of a large batch may not fit into memory.
    blocks = value.flatten().split(_BLOCK) if value.is_contiguous() else (value,)
    for block in blocks:
        # v − v² is 0 for no other number, rounded or not; comparing v² with v would let ∞ pass.
        low, high = torch.addcmul(block, block, block, value=-1).aminmax()
        if not (low.item() == 0 and high.item() == 0):
            return False
    return True


def require_binary(name: str, value: Tensor) -> None:
    """Raise unless labels are 0 and 1, or booleans."""
    if value.dtype == torch.bool or not values_are_checked():
        return
    if not is_binary(value, whole=not value.is_floating_point()):
        found = torch.unique(value)[:6].tolist()
        raise ValueError(f"{name} must contain only 0 and 1, got values such as {found}")


def require_shares(name: str, value: Tensor) -> None:
    """Raise unless labels, which may be soft, are shares of the positive class."""
    if value.dtype == torch.bool or value.numel() == 0 or not values_are_checked():
        return
    low, high = (end.item() for end in value.aminmax())  # NaN is neither
    if not (low >= 0 and high <= 1):
        raise ValueError(
            f"{name} must lie between 0 and 1, got values from {low:g} to {high:g}; "
            f"of classes -1 and 1 pass ({name} + 1) / 2"
        )


def require_relevance(name: str, value: Tensor) -> None:
    """Raise unless relevances are finite and not negative."""
    if value.dtype == torch.bool or value.numel() == 0 or not values_are_checked():
        return
    if not _in_range(value):
        require_finite(name, value, "relevances are finite")
        require_not_negative(name, value)


def require_not_negative(name: str, value: Tensor | None) -> None:
    """Raise unless weights or relevances, where given, are finite and not negative."""
    if value is None or value.dtype == torch.bool or not values_are_checked():
        return
    if value.numel() and not _in_range(value):
        advice = "leave items out with weight 0 or a mask"
        require_no_nan(name, value, advice)
        require_finite(name, value, advice)
        raise ValueError(f"{name} must not be negative, got {value.min().item()}")


def _in_range(value: Tensor) -> bool:
    """Whether all values are finite and not negative, by one reduction."""
    low, high = value.aminmax()  # both are NaN if any value is
    return low.item() >= 0 and high.item() < math.inf


def require_count(name: str, value: int, *, minimum: int = 1) -> None:
    """Raise unless a number of items, batches or epochs is whole and large enough."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be a whole number >= {minimum}, got {value!r}")


def require_number(name: str, value: float, *, minimum: float = -math.inf) -> None:
    """Raise unless an option is a finite number of at least ``minimum``."""
    if not (is_finite(value) and value >= minimum):
        bound = f" >= {minimum}" if math.isfinite(minimum) else ""
        raise ValueError(f"{name} must be a finite number{bound}, got {value!r}")


def is_finite(value: object) -> bool:
    """Return whether an option is a finite number; a word or a list is none."""
    try:
        return math.isfinite(value)  # type: ignore[arg-type]
    except TypeError:  # no number
        return False


def require_each(check: Callable[[str, Any], None], **values: object) -> None:
    """Raise on the first of these values that a check of one value refuses, by its name."""
    for name, value in values.items():
        check(name, value)


def require_ids(
    name: str, ids: Tensor, size: int, *, what: str = "the memory was made for"
) -> None:
    """Raise unless ``ids`` are whole numbers from 0 to size − 1, which is ``what``."""
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise ValueError(f"{name} must hold integers, got {ids.dtype}")
    if ids.numel() == 0 or not values_are_checked():
        return
    low, high = (int(end) for end in torch.aminmax(ids))
    if low < 0 or high >= size:
        raise ValueError(
            f"{name} must lie between 0 and {size - 1}, got values from {low} to {high}; "
            f"{what} {size}"
        )


def require_positive(name: str, value: float) -> None:
    """Raise unless a scale, margin or temperature is finite and above zero."""
    if not (is_finite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")


def require_fraction_range(low_name: str, low: float, high_name: str, high: float) -> None:
    """Raise unless a range of rates lies in [0, 1] and is not empty."""
    if not (is_finite(low) and is_finite(high) and 0 <= low < high <= 1):
        raise ValueError(
            f"{low_name} and {high_name} must satisfy 0 <= {low_name} < {high_name} <= 1, "
            f"got {low_name}={low!r} and {high_name}={high!r}"
        )


def require_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise unless a value is one of a few words."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
