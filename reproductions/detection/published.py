"""What the paper prints (StableAP, Table 5): MS COCO, ResNet-50, in per cent."""

from __future__ import annotations

COLUMNS = ("AP", "AP50", "AP75", "AP_S", "AP_M", "AP_L")
PUBLISHED: dict[str, tuple[float, ...]] = {
    "focal": (39.9, 57.8, 43.3, 22.2, 44.1, 51.2),
    "AP loss": (38.9, 58.8, 41.9, 19.4, 41.7, 52.2),
    "DR loss": (37.4, 56.0, 40.0, 20.8, 41.2, 50.5),
    "aLRP loss": (40.5, 59.6, 43.3, 20.6, 43.3, 54.3),
    "StableAP": (41.4, 59.9, 44.8, 23.2, 45.6, 53.4),
    "Faster R-CNN, cross-entropy": (39.1, 59.3, 42.4, 23.2, 43.4, 53.5),
    "Faster R-CNN, aLRP": (41.0, 61.1, 43.7, 22.2, 44.9, 54.2),
    "Faster R-CNN, StableAP": (41.2, 62.1, 44.4, 23.8, 45.4, 54.1),
}
