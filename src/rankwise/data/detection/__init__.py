"""Pictures with boxes: COCO's json and Pascal VOC's xml, read, checked and in their parts."""

from rankwise.extras import require

require("rankwise.data.detection", "PIL")

from rankwise.data.detection.base import DetectionSet, DetectionSplits, Objects
from rankwise.data.detection.findings import Findings
from rankwise.data.detection.opening import KINDS, open_detection

__all__ = [
    "open_detection",
    "KINDS",
    "DetectionSet",
    "DetectionSplits",
    "Objects",
    "Findings",
]
