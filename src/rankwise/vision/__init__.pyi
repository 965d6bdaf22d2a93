from rankwise.vision.anchors import Anchors, atss, grid_anchors
from rankwise.vision.backbones import Backbone, make_backbone
from rankwise.vision.boxes import box_area, decode_boxes, encode_boxes, giou, iou, nms
from rankwise.vision.classification_loss import ClassificationLoss
from rankwise.vision.detection_loss import DetectionLoss, DetectionLosses
from rankwise.vision.detr import set_detr_loss
from rankwise.vision.retinanet import set_retinanet_loss

__all__ = [
    "Anchors",
    "Backbone",
    "ClassificationLoss",
    "DetectionLoss",
    "DetectionLosses",
    "atss",
    "box_area",
    "decode_boxes",
    "encode_boxes",
    "giou",
    "grid_anchors",
    "iou",
    "make_backbone",
    "nms",
    "set_detr_loss",
    "set_retinanet_loss",
]
