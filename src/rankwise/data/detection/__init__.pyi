from rankwise.data.detection.detection_set import (
    AnnotationIssues,
    DetectionSet,
    DetectionSplits,
    Objects,
)
from rankwise.data.detection.readers import KINDS, open_detection

__all__ = [
    "KINDS",
    "AnnotationIssues",
    "DetectionSet",
    "DetectionSplits",
    "Objects",
    "open_detection",
]
