"""Average precision as COCO counts it, by COCO's own code (pycocotools)."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from rankwise.data.detection import DetectionSet
from rankwise.extras import require
from rankwise.tasks.detection.batches import Pictures
from rankwise.tasks.detection.finding import Detections, detect, detect_kept
from rankwise.tasks.detection.frozen import KeptMaps, can_keep
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.settings import Settings
from rankwise.vision.boxes import iou

__all__ = ["Result", "best_thresholds", "detect_all", "evaluate"]

_AT_ONCE = 64  # pictures that are in memory


@dataclass(frozen=True)
class Result:
    """COCO's numbers; NaN where there is no object of the kind."""

    ap: float  # mean over IoU .5, .55, …, .95 and over the classes
    ap50: float
    ap75: float
    small: float  # objects below 32² pixels
    medium: float
    large: float  # above 96²
    by_class: dict[str, float]  # AP
    by_class50: dict[str, float]  # AP at IoU .5
    pictures: int
    objects: int

    def as_json(self) -> dict[str, Any]:
        """Plain values, None for NaN."""

        def plain(value: Any) -> Any:
            if isinstance(value, dict):
                return {name: plain(part) for name, part in value.items()}
            return None if isinstance(value, float) and math.isnan(value) else value

        return {name: plain(value) for name, value in asdict(self).items()}


def detect_all(
    network: Detector,
    pictures: DetectionSet,
    settings: Settings,
    *,
    kept: dict[Any, Any] | None = None,
) -> list[Detections]:
    """The boxes found in every picture of a set; ``kept``: what a frozen backbone saw before."""
    views, found = settings.augmentations, settings.selection
    if kept is not None and views.test_side is None and can_keep(network, views):
        was_training = network.training
        network.eval()
        try:
            return detect_kept(KeptMaps(Pictures(pictures, views), network, kept), network, found)
        finally:
            network.train(was_training)
    results: list[Detections] = []
    for start in range(0, len(pictures), _AT_ONCE):
        some = range(start, min(start + _AT_ONCE, len(pictures)))
        results += detect(network, [pictures.load(i) for i in some], views, found)
    return results


def evaluate(pictures: DetectionSet, detections: Sequence[Detections]) -> Result:
    """COCO's numbers for the boxes found in the pictures of a set, in their order."""
    if len(detections) != len(pictures):
        raise ValueError(
            f"detections must be one for each of {len(pictures)} pictures, got {len(detections)}"
        )
    coco, judge = _pycocotools()
    with redirect_stdout(io.StringIO()):  # it tells how far it is
        truth = coco()
        truth.dataset = _truth(pictures)
        truth.createIndex()
        found = coco()
        found.dataset = {**truth.dataset, "annotations": _found(detections)}
        found.createIndex()
        judged = judge(truth, found, "bbox")
        judged.evaluate()
        judged.accumulate()
        judged.summarize()
    stats = [math.nan if value < 0 else float(value) for value in judged.stats[:6]]
    precision = judged.eval["precision"][:, :, :, 0, -1]  # IoU × recall × class, 100 boxes
    return Result(
        ap=stats[0],
        ap50=stats[1],
        ap75=stats[2],
        small=stats[3],
        medium=stats[4],
        large=stats[5],
        by_class=_by_class(pictures.classes, precision),
        by_class50=_by_class(pictures.classes, precision[:1]),
        pictures=len(pictures),
        objects=int(pictures.counts.sum()),
    )


def best_thresholds(pictures: DetectionSet, detections: Sequence[Detections]) -> list[float]:
    """Of each class the logit above which boxes are right and complete best: F1 at IoU .5.

    A box is right if it is the best for an object of its class that no better box has. Where
    nothing is right the threshold is beyond every score, yet finite.
    """
    scores: list[list[float]] = [[] for _ in pictures.classes]
    right: list[list[bool]] = [[] for _ in pictures.classes]
    total = [0] * len(pictures.classes)
    for objects, found in zip(pictures.objects, detections, strict=True):
        boxes, labels = objects.trained()
        free = torch.ones(len(labels), dtype=torch.bool)
        overlaps = iou(found.boxes, boxes)
        for label in labels.tolist():
            total[label] += 1
        for i, label in enumerate(found.labels.tolist()):
            fits = overlaps[i] * (free & (labels == label))
            good = len(fits) > 0 and float(fits.max()) >= 0.5
            if good:
                free[int(fits.argmax())] = False
            scores[label].append(float(found.scores[i]))
            right[label].append(good)
    return [_best(*rows) for rows in zip(scores, right, total, strict=True)]


def _best(scores: list[float], right: list[bool], total: int) -> float:
    if not any(right):
        return max(scores, default=0.0) + 1.0
    order = np.argsort(-np.array(scores), kind="stable")
    hits = np.cumsum(np.array(right)[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + total)
    return float(np.array(scores)[order][int(f1.argmax())])


def _truth(pictures: DetectionSet) -> dict[str, list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(pictures.objects):
        for box, label, ignored, size in zip(
            one.boxes.tolist(),
            one.labels.tolist(),
            one.ignored.tolist(),
            one.areas.tolist(),
            strict=True,
        ):
            rows.append(
                {
                    "id": len(rows) + 1,  # 0 would be no match to it
                    "image_id": number,
                    "category_id": label,
                    "bbox": _corner_and_sides(box),
                    "area": size,
                    "iscrowd": int(ignored),
                }
            )
    return {
        "images": [
            {"id": i, "width": width, "height": height}
            for i, (width, height) in enumerate(pictures.sizes)
        ],
        "annotations": rows,
        "categories": [{"id": i, "name": name} for i, name in enumerate(pictures.classes)],
    }


def _found(detections: Sequence[Detections]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(detections):
        for box, label, score in zip(
            one.boxes.tolist(), one.labels.tolist(), one.scores.tolist(), strict=True
        ):
            sides = _corner_and_sides(box)
            rows.append(
                {
                    "id": len(rows) + 1,
                    "image_id": number,
                    "category_id": label,
                    "bbox": sides,
                    "area": sides[2] * sides[3],
                    "iscrowd": 0,
                    "score": score,
                }
            )
    return rows


def _corner_and_sides(box: Sequence[float]) -> list[float]:
    return [box[0], box[1], box[2] - box[0], box[3] - box[1]]


def _by_class(classes: Sequence[str], precision: np.ndarray[Any, Any]) -> dict[str, float]:
    found = {}
    for number, name in enumerate(classes):
        own = precision[:, :, number]
        own = own[own > -1]
        found[name] = float(own.mean()) if own.size else math.nan
    return found


def _pycocotools() -> tuple[Any, Any]:
    require("rankwise.tasks.detection", "pycocotools")
    from pycocotools.coco import COCO  # noqa: PLC0415  (an extra)
    from pycocotools.cocoeval import COCOeval  # noqa: PLC0415

    return COCO, COCOeval
