"""Images: detection losses, boxes, anchors, backbones, and what the image tasks share."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
