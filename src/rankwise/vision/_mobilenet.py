"""The weights of torchvision's MobileNetV2 by the names of transformers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor

_BLOCK = {  # of an inverted residual: a convolution with its norm inside, or the last two alone
    "0.0": "expand_1x1.convolution",
    "0.1": "expand_1x1.normalization",
    "1.0": "conv_3x3.convolution",
    "1.1": "conv_3x3.normalization",
    "2": "reduce_1x1.convolution",
    "3": "reduce_1x1.normalization",
}
# The first block has no expansion: the others are numbered from 0.
_FIRST = {f"{int(n[0]) - 1}{n[1:]}": name for n, name in _BLOCK.items() if n[0] != "0"}
_CONVOLUTION = {"0": "convolution", "1": "normalization"}
_NAME = re.compile(r"features\.(\d+)\.(?:conv\.)?((?:\d+\.)+)(\w+)")


def from_torchvision(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the entries of a state dict; the classifier is left out.

    Part 0 is the first convolution, part 1 the block that goes with it, then come 16 inverted
    residuals, and part 18 is the last convolution.
    """
    renamed: dict[str, Tensor] = {}
    for name, value in state.items():
        if name.startswith("classifier."):
            continue
        match = _NAME.fullmatch(name)
        if match is None:
            raise RuntimeError(f"unknown name {name}")
        part, inside, leaf = int(match[1]), match[2].rstrip("."), match[3]
        table = _FIRST if part == 1 else _CONVOLUTION if part in (0, 18) else _BLOCK
        prefix = {0: "conv_stem.first_conv", 1: "conv_stem", 18: "conv_1x1"}.get(
            part, f"layer.{part - 2}"
        )
        if inside not in table:
            raise RuntimeError(f"unknown name {name}")
        renamed[f"{prefix}.{table[inside]}.{leaf}"] = value
    return renamed
