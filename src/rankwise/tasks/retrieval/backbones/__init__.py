"""Networks from pictures to features."""

from __future__ import annotations

from rankwise.tasks.retrieval.backbones.base import (
    IMAGENET_DEVIATION,
    IMAGENET_MEAN,
    Backbone,
)
from rankwise.tasks.retrieval.backbones.mobilenet import MobileNetV2
from rankwise.tasks.retrieval.backbones.pretrained import TransformersBackbone
from rankwise.tasks.retrieval.backbones.small import SmallNet
from rankwise.tasks.retrieval.settings import Network, UsageError

__all__ = [
    "IMAGENET_DEVIATION",
    "IMAGENET_MEAN",
    "Backbone",
    "MobileNetV2",
    "SmallNet",
    "TransformersBackbone",
    "make_backbone",
]


def make_backbone(settings: Network) -> Backbone:
    """The backbone of the settings, from scratch by torch's own generator or with its weights."""
    if settings.backbone == "small":
        if settings.weights is not None:
            raise UsageError("network.weights: the small backbone has none; leave it out")
        try:
            return SmallNet(**settings.options)
        except TypeError:
            raise UsageError(
                "network.options of the small backbone are width and norm, got "
                + ", ".join(map(str, settings.options))
            ) from None
    if settings.backbone == "mobilenet_v2":
        return MobileNetV2(settings.weights, settings.options)
    return TransformersBackbone(settings.backbone, settings.weights, settings.options)
