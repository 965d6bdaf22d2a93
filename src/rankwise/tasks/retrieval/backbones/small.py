"""A small convolutional network that trains on a processor."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from rankwise.tasks.retrieval.backbones.base import Backbone
from rankwise.tasks.usage import UsageError

__all__ = ["SmallNet"]

_GROUP = 8  # channels that group norm takes together


class SmallNet(Backbone):
    """Four convolutions with ``width`` to 8 · ``width`` channels, the first three halving the size.

    ``norm`` is ``"batch"`` or ``"group"``: of an image by itself, which gradient caching needs.
    """

    own_statistics = True

    def __init__(self, width: int = 32, norm: str = "batch") -> None:
        super().__init__()
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise UsageError(f"network.options.width must be a whole number >= 1, got {width!r}")
        if norm not in ("batch", "group"):
            raise UsageError(f"network.options.norm must be batch or group, got {norm!r}")
        sizes = (3, width, 2 * width, 4 * width, 8 * width)
        self.body = nn.ModuleList(
            _stage(sizes[i], sizes[i + 1], norm, halve=i < 3) for i in range(4)
        )
        self.channels = sizes[-1]
        # A third faster on a processor.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @property
    def stages(self) -> Sequence[nn.Module]:
        return list(self.body)

    def forward(self, pictures: Tensor) -> Tensor:
        found = pictures.contiguous(memory_format=torch.channels_last)
        for stage in self.body:
            found = stage(found)
        return found.mean((2, 3))


def _stage(taken: int, given: int, norm: str, *, halve: bool) -> nn.Sequential:
    convolution = nn.Conv2d(taken, given, 3, padding=1, bias=False)
    normalized: nn.Module = nn.BatchNorm2d(given)
    if norm == "group":
        normalized = nn.GroupNorm(max(1, given // _GROUP), given)
    layers: list[nn.Module] = [convolution, normalized, nn.ReLU()]
    return nn.Sequential(*layers, *([nn.MaxPool2d(2, ceil_mode=True)] if halve else []))
