"""Where a call waits for its device: it reads a value, or makes a shape that values decide."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import rankwise

SOURCE = str(Path(rankwise.__file__).parent)
WAITING = {
    "_local_scalar_dense",
    "_unique2",
    "bincount",
    "equal",
    "is_nonzero",
    "item",
    "masked_select",
    "nonzero",
    "repeat_interleave",
    "unique_consecutive",
    "unique_dim",
}
BY_A_MASK = {"index", "index_put", "index_put_", "_index_put_impl_"}


class Waits(TorchDispatchMode):
    """Collects the functions of rankwise that waited while it is entered: ``lists.py: _side``.

    The tensors are on the CPU: it is the operations that are looked for, not the time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.places: set[str] = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        masks = name in BY_A_MASK and any(i is not None and _is_mask(i) for i in args[1])
        if name in WAITING or masks:
            self.places.add(_place())
        return function(*args, **(kwargs or {}))


def _is_mask(index: torch.Tensor) -> bool:
    return index.dtype in (torch.bool, torch.uint8)


def _place() -> str:
    """The innermost function of rankwise on the stack; a backward pass of torch's own has none."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(SOURCE):
            name = code.co_name
            while name.startswith("<") and frame.f_back is not None:  # a comprehension
                frame = frame.f_back
                name = frame.f_code.co_name
            return f"{Path(code.co_filename).relative_to(SOURCE).as_posix()}: {name}"
        frame = frame.f_back
    return "a gradient of torch"
