"""Networks of transformers: ResNet, ConvNeXt, ViT, DINOv2, from scratch or pretrained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rankwise.extras import require
from rankwise.tasks.retrieval.backbones.base import Backbone
from rankwise.tasks.usage import UsageError

__all__ = ["KINDS", "TransformersBackbone", "transformers"]

KINDS = ("resnet", "convnext", "vit", "dinov2")

_STAGES = ("encoder.stages", "encoder.layer", "layers", "encoder.layers")  # where each kind's are


def transformers() -> Any:
    """The module, or what to install."""
    require("rankwise.tasks.retrieval", "transformers")
    import transformers as module  # noqa: PLC0415  (an extra, and seconds to import)

    return module


class TransformersBackbone(Backbone):
    """``AutoBackbone`` of a kind: its last feature map's mean, or a transformer's first token.

    ``weights`` is a folder that ``save_pretrained`` has written, or the name of a model in the
    hub's cache: nothing is ever fetched. None starts from scratch, and so does a folder with
    nothing but a ``config.json``, the architecture. ``options`` are those of the
    model's own configuration, ``{"depths": [3, 4, 6, 3]}``; the defaults are ResNet-50,
    ConvNeXt-T, ViT-B and DINOv2-B.
    """

    def __init__(
        self, kind: str, weights: str | None = None, options: dict[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.model: nn.Module = _loaded(kind, weights, dict(options or {}))
        config: Any = self.model.config
        sizes = getattr(config, "hidden_sizes", None)
        self.channels = int(sizes[-1] if sizes else config.hidden_size)
        if kind in ("resnet", "convnext"):
            self.model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @property
    def stages(self) -> Sequence[nn.Module]:
        """A convolutional network's four; the layers of a transformer in four equal parts."""
        for name in _STAGES:
            try:
                found = list(self.model.get_submodule(name).children())
            except AttributeError:
                continue
            if name == "encoder.stages":
                return found
            return [found[len(found) * part // 4] for part in range(4)]
        raise UsageError(f"stages of {type(self.model).__name__} are not known")

    def forward(self, pictures: Tensor) -> Tensor:
        out: Any = self.model(pictures)
        maps = getattr(out, "feature_maps", None)
        last: Tensor = maps[-1] if maps else out.last_hidden_state
        return last.mean((2, 3)) if last.dim() == 4 else last[:, 0]


def _loaded(kind: str, weights: str | None, options: dict[str, Any]) -> nn.Module:
    library = transformers()
    auto = library.AutoModel if kind == "vit" else library.AutoBackbone  # ViT has no backbone
    if kind == "dinov2":
        options = {"reshape_hidden_states": False, **options}  # the first token is what we want
    try:
        if weights is None:
            model = auto.from_config(library.AutoConfig.for_model(kind, **options))
        else:
            here = {"local_files_only": True}
            config = library.AutoConfig.from_pretrained(weights, **here, **options)
            if _is_architecture(Path(weights)):
                model = auto.from_config(config)
            else:
                with torch.device("meta"):
                    # AutoBackbone.from_pretrained asks the hub even for a folder, its class not.
                    found = type(auto.from_config(config))
                model = found.from_pretrained(weights, config=config, **here)
    except (OSError, ValueError, TypeError) as error:
        first = str(error).strip().splitlines()[0]
        where = "from scratch" if weights is None else f"of weights {weights}"
        raise UsageError(f"network: {kind} {where} cannot be made: {first}") from None
    held = str(model.config.model_type)
    if held != kind:
        raise UsageError(f"network.weights: {weights} holds a {held}, network.backbone is {kind}")
    result: nn.Module = model.float()
    return result


def _is_architecture(folder: Path) -> bool:
    return folder.is_dir() and [path.name for path in folder.iterdir()] == ["config.json"]
