"""Backbones: networks from images to features."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import torch
from torch import Tensor, nn

from rankwise.errors import UsageError, foreign_errors
from rankwise.extras import require

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEVIATION = (0.229, 0.224, 0.225)
_GROUP = 8  # channels of a group norm that are normalized together
_MOBILENET_STAGES = (0, 2, 5, 12)  # layers that halve the image, after the stem
_STAGES = ("encoder.stages", "encoder.layer", "layers", "encoder.layers")  # by kind of network
_LAYER = re.compile(r"features\.\d+(\.conv)?(\.\d+)+")  # of MobileNetV2 in torchvision

Made = TypeVar("Made")


class Backbone(nn.Module, ABC):
    """Network from standardized images (n, 3, h, w) to features (n, ``channels``).

    Example:
        >>> import torch
        >>> from rankwise.vision import make_backbone
        >>> backbone = make_backbone("small", options={"width": 4})
        >>> backbone.channels, len(backbone.stages)
        (32, 4)
        >>> backbone(torch.zeros(2, 3, 16, 16)).shape
        torch.Size([2, 32])
    """

    channels: int
    has_config: bool = False  # of transformers, by which the network is made again
    uses_data_statistics: bool = False  # standardized by the training pixels, not by ImageNet's

    def __init__(self) -> None:  # without it the signature is that of nn.Module, *args
        super().__init__()

    @property
    @abstractmethod
    def stages(self) -> Sequence[nn.Module]:
        """The first module of every stage, in order; each takes the features as its first input."""

    @abstractmethod
    def forward(self, images: Tensor) -> Tensor:
        """Return the features, averaged over all positions."""


class SmallNet(Backbone):
    """Four convolutions with ``width`` to 8 · ``width`` channels, which train on a CPU.

    The first three halve the size. ``norm`` is ``"batch"`` or ``"group"``: the norm of an image
    by itself, which gradient caching needs.
    """

    uses_data_statistics = True

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
        channels_last(self)

    @property
    def stages(self) -> Sequence[nn.Module]:
        return list(self.body)

    def forward(self, images: Tensor) -> Tensor:
        features = images.contiguous(memory_format=torch.channels_last)
        for stage in self.body:
            features = stage(features)
        return features.mean((2, 3))


class MobileNetV2(Backbone):
    """MobileNetV2 (Sandler et al. 2018) to 1 280 features.

    ``weights`` is the file of a state dict by torchvision's names. Padding is symmetric and ε of
    the norms 1e-5, as those weights were trained.
    """

    def __init__(
        self, weights: str | None = None, options: Mapping[str, object] | None = None
    ) -> None:
        super().__init__()
        given = {"tf_padding": False, "layer_norm_eps": 1e-5, **(options or {})}
        self.model: nn.Module = _load_transformers("mobilenet_v2", None, given)
        last = self.model.get_submodule("conv_1x1.convolution")
        assert isinstance(last, nn.Conv2d)
        self.channels = last.out_channels
        if weights is not None:
            self._load(Path(weights))
        channels_last(self.model)

    @property
    def stages(self) -> Sequence[nn.Module]:
        layers = list(self.model.get_submodule("layer").children())
        return [layers[start] for start in _MOBILENET_STAGES]

    def forward(self, images: Tensor) -> Tensor:
        last: Tensor = self.model(images).last_hidden_state
        return last.mean((2, 3))

    def _load(self, path: Path) -> None:
        if not path.is_file():
            raise UsageError(f"network.weights: {path}: there is no such file")
        said = f"network.weights: {path} does not hold MobileNetV2 by torchvision's names"
        with foreign_errors(said):
            state = torch.load(path, weights_only=True, map_location="cpu")
            self.model.load_state_dict(from_torchvision(state, self.model.state_dict()))


class TransformersBackbone(Backbone):
    """Network of transformers: the mean of its last feature map, or its first token.

    ``weights`` is a folder written by ``save_pretrained``, or the name of a model in the hub's
    cache: nothing is ever downloaded. None starts from scratch, and so does a folder with nothing
    but a ``config.json``, the architecture. ``options`` are those of the configuration of the
    model, ``{"depths": [3, 4, 6, 3]}``; the defaults are ResNet-50, ConvNeXt-T, ViT-B and DINOv2-B.
    """

    has_config = True

    def __init__(
        self,
        kind: str,
        weights: str | None = None,
        options: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__()
        self.model: nn.Module = _load_transformers(kind, weights, dict(options or {}))
        config = self.model.config
        sizes = getattr(config, "hidden_sizes", None)
        self.channels = int(sizes[-1] if sizes else getattr(config, "hidden_size"))  # noqa: B009
        if kind in ("resnet", "convnext"):
            channels_last(self.model)

    @property
    def stages(self) -> Sequence[nn.Module]:
        """The four of a convolutional network; the layers of a transformer in four equal parts."""
        for name in _STAGES:
            try:
                layers = list(self.model.get_submodule(name).children())
            except AttributeError:
                continue
            if name == "encoder.stages":
                return layers
            return [layers[len(layers) * part // 4] for part in range(4)]
        raise UsageError(f"stages of {type(self.model).__name__} are not known")

    def forward(self, images: Tensor) -> Tensor:
        output = self.model(images)
        maps = getattr(output, "feature_maps", None)
        last: Tensor = maps[-1] if maps else output.last_hidden_state
        return last.mean((2, 3)) if last.dim() == 4 else last[:, 0]


def make_backbone(
    kind: str, weights: str | None = None, options: Mapping[str, object] | None = None
) -> Backbone:
    """Make a backbone, from scratch by torch's global generator or with its weights.

    Args:
        kind: ``small``, ``mobilenet_v2``, ``resnet``, ``convnext``, ``vit`` or ``dinov2``.
        weights: Folder, name of a model in the hub's cache or file; None: from scratch.
        options: Options of the configuration of the network.

    Returns:
        The backbone.

    Raises:
        UsageError: Where the network cannot be made of these options, or the weights do not fit.

    Example:
        >>> from rankwise.vision import make_backbone
        >>> make_backbone("small", options={"width": 8, "norm": "group"}).channels
        64
    """
    options = dict(options or {})
    if kind == "small":
        return make_small(SmallNet, "are width and norm", weights, options)
    if kind == "mobilenet_v2":
        return MobileNetV2(weights, options)
    return TransformersBackbone(kind, weights, options)


def make_small(
    make: Callable[..., Made], known: str, weights: str | None, options: Mapping[str, object]
) -> Made:
    """Make a small backbone, which has options but no weights."""
    if weights is not None:
        raise UsageError("network.weights: the small backbone has none; leave it out")
    try:
        return make(**options)
    except TypeError:
        given = ", ".join(map(str, options))
        raise UsageError(f"network.options of the small backbone {known}, got {given}") from None


def channels_last(module: nn.Module) -> None:
    """Store the weights of convolutions channels last: a third faster on a CPU."""
    module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def _stage(inputs: int, outputs: int, norm: str, *, halve: bool) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    normalized: nn.Module = nn.BatchNorm2d(outputs)
    if norm == "group":
        normalized = nn.GroupNorm(max(1, outputs // _GROUP), outputs)
    layers: list[nn.Module] = [convolution, normalized, nn.ReLU()]
    return nn.Sequential(*layers, *([nn.MaxPool2d(2, ceil_mode=True)] if halve else []))


def _load_transformers(kind: str, weights: str | None, options: dict[str, object]) -> nn.Module:
    library = _transformers()
    whole = kind in ("vit", "mobilenet_v2")  # which have no backbone
    auto = library.AutoModel if whole else library.AutoBackbone
    if kind == "dinov2":
        options = {"reshape_hidden_states": False, **options}  # the first token is what we want
    where = "from scratch" if weights is None else f"of weights {weights}"
    with foreign_errors(f"network: {kind} {where} cannot be made"):
        if weights is None:
            model = auto.from_config(library.AutoConfig.for_model(kind, **options))
        else:
            local = {"local_files_only": True}
            config = library.AutoConfig.from_pretrained(weights, **local, **options)
            if {path.name for path in Path(weights).glob("*")} == {"config.json"}:
                model = auto.from_config(config)
            else:
                with torch.device("meta"):
                    # AutoBackbone.from_pretrained asks the hub even for a folder, its class not.
                    of_config = type(auto.from_config(config))
                model = of_config.from_pretrained(weights, config=config, **local)
    held = str(model.config.model_type)
    if held != kind:
        raise UsageError(f"network.weights: {weights} holds a {held}, network.backbone is {kind}")
    result: nn.Module = model.float()
    return result


def _transformers() -> ModuleType:
    require("rankwise.vision", "transformers")
    import transformers  # noqa: PLC0415  (an extra, and seconds to import)

    return transformers


def from_torchvision(state: Mapping[str, Tensor], own: Iterable[str]) -> dict[str, Tensor]:
    """Rename the entries of a state dict to ``own`` names; the classifier is left out.

    Both networks have the same layers in the same order, which torchvision's numbers say.
    """
    found = {}
    for name, value in state.items():
        layer, _, leaf = name.rpartition(".")
        if _LAYER.fullmatch(layer):
            found[tuple(map(int, re.findall(r"\d+", layer))), leaf] = value
        elif not name.startswith("classifier."):
            raise RuntimeError(f"unknown name {name}")
    given = sorted({layer for layer, _ in found})
    layers = list(dict.fromkeys(name.rpartition(".")[0] for name in own))
    if len(given) != len(layers):
        raise RuntimeError(f"it has {len(given)} layers instead of {len(layers)}")
    names = dict(zip(given, layers, strict=True))
    return {f"{names[layer]}.{leaf}": value for (layer, leaf), value in found.items()}
