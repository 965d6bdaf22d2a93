"""Object detection trained on average precision: the losses, and a detector of one stage."""

from rankwise.tasks.detection.anchors import Anchors, grid_anchors
from rankwise.tasks.detection.assignment import atss
from rankwise.tasks.detection.boxes import area, giou, iou, nms
from rankwise.tasks.detection.classification import ClassificationLoss
from rankwise.tasks.detection.coding import decode, encode
from rankwise.tasks.detection.losses import DetectionLoss, DetectionLosses

__all__ = [
    "DetectionLoss",
    "DetectionLosses",
    "ClassificationLoss",
    "Anchors",
    "grid_anchors",
    "atss",
    "area",
    "iou",
    "giou",
    "nms",
    "encode",
    "decode",
]
