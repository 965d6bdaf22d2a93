"""MobileNetV2 of transformers, with weights by torchvision's names mapped onto it."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rankwise.tasks.retrieval.backbones.base import Backbone
from rankwise.tasks.retrieval.backbones.pretrained import transformers
from rankwise.tasks.usage import UsageError

__all__ = ["MobileNetV2", "renamed"]

_STARTS = (0, 2, 5, 12)  # layers that halve the picture, after the stem
_BLOCK = {  # of an inverted residual: a convolution with its norm inside, or the last two alone
    "0.0": "expand_1x1.convolution",
    "0.1": "expand_1x1.normalization",
    "1.0": "conv_3x3.convolution",
    "1.1": "conv_3x3.normalization",
    "2": "reduce_1x1.convolution",
    "3": "reduce_1x1.normalization",
}
_FIRST = {  # the first block expands nothing
    "0.0": "conv_3x3.convolution",
    "0.1": "conv_3x3.normalization",
    "1": "reduce_1x1.convolution",
    "2": "reduce_1x1.normalization",
}
_ALONE = {"0": "convolution", "1": "normalization"}
_NAME = re.compile(r"features\.(\d+)\.(?:conv\.)?((?:\d+\.)+)(\w+)")


class MobileNetV2(Backbone):
    """MobileNetV2 (Sandler et al. 2018) to 1 280 features; ``weights`` is a file of a state dict.

    Padding is symmetric and ε of the norms 1e-5, as the weights were trained.
    """

    def __init__(self, weights: str | None = None, options: dict[str, Any] | None = None) -> None:
        super().__init__()
        library = transformers()
        given = {"tf_padding": False, "layer_norm_eps": 1e-5, **(options or {})}
        try:
            config = library.MobileNetV2Config(**given)
            self.model: nn.Module = library.MobileNetV2Model(config, add_pooling_layer=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"network: mobilenet_v2 cannot be made: {error}") from None
        last: Any = self.model.get_submodule("conv_1x1.convolution")
        self.channels = int(last.out_channels)
        if weights is not None:
            self._load(Path(weights))
        self.model.to(memory_format=torch.channels_last)

    @property
    def stages(self) -> Sequence[nn.Module]:
        layers = list(self.model.get_submodule("layer").children())
        return [layers[start] for start in _STARTS]

    def forward(self, pictures: Tensor) -> Tensor:
        out: Any = self.model(pictures)
        last: Tensor = out.last_hidden_state
        return last.mean((2, 3))

    def _load(self, path: Path) -> None:
        if not path.is_file():
            raise UsageError(f"network.weights: {path}: there is no such file")
        try:
            state = torch.load(path, weights_only=True, map_location="cpu")
            self.model.load_state_dict(renamed(state))
        except (pickle.UnpicklingError, RuntimeError, EOFError, AttributeError) as error:
            first = str(error).strip().splitlines()[0]
            raise UsageError(
                f"network.weights: {path} does not hold MobileNetV2 by torchvision's names: {first}"
            ) from None


def renamed(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A state dict of torchvision's names by those of transformers; the classifier is left out.

    Part 0 is the first convolution, part 1 the block that goes with it, then come 16 inverted
    residuals, and part 18 is the last convolution.
    """
    found: dict[str, Tensor] = {}
    for name, value in state.items():
        if name.startswith("classifier."):
            continue
        match = _NAME.fullmatch(name)
        if match is None:
            raise RuntimeError(f"unknown name {name}")
        part, inside, leaf = int(match[1]), match[2].rstrip("."), match[3]
        table = _FIRST if part == 1 else _ALONE if part in (0, 18) else _BLOCK
        place = {0: "conv_stem.first_conv", 1: "conv_stem", 18: "conv_1x1"}.get(
            part, f"layer.{part - 2}"
        )
        if inside not in table:
            raise RuntimeError(f"unknown name {name}")
        found[f"{place}.{table[inside]}.{leaf}"] = value
    return found
