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
from rankwise.tasks.detection.dataset import DetectionDataset
from rankwise.tasks.detection.feature_cache import Cache, FeatureCache, can_cache
from rankwise.tasks.detection.inference import Detections, detect, detect_cached
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.settings import Settings
from rankwise.vision.boxes import iou

_BLOCK = 64  # images that are in memory


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
    images: int
    objects: int

    def as_json(self) -> dict[str, object]:
        """Return the values, None for NaN."""

        def plain(value: object) -> object:
            if isinstance(value, dict):
                return {name: plain(part) for name, part in value.items()}
            return None if isinstance(value, float) and math.isnan(value) else value

        return {name: plain(value) for name, value in asdict(self).items()}


def detect_all(
    network: Detector,
    images: DetectionSet,
    settings: Settings,
    *,
    cache: Cache | None = None,
) -> list[Detections]:
    """Detect objects in every image of a set; ``cache`` has features of a frozen backbone."""
    how, selection = settings.augmentations, settings.selection
    if cache is not None and how.test_side is None and can_cache(network, how):
        was_training = network.training
        network.eval()
        try:
            features = FeatureCache(DetectionDataset(images, how), network, cache)
            return detect_cached(features, network, selection)
        finally:
            network.train(was_training)
    results: list[Detections] = []
    for start in range(0, len(images), _BLOCK):
        some = range(start, min(start + _BLOCK, len(images)))
        results += detect(network, [images.load(i) for i in some], how, selection)
    return results


def evaluate(images: DetectionSet, detections: Sequence[Detections]) -> Result:
    """Compute COCO's metrics of the detections in the images of a set, in their order."""
    if len(detections) != len(images):
        raise ValueError(
            f"detections must be one for each of {len(images)} images, got {len(detections)}"
        )
    coco, coco_eval = _pycocotools()
    with redirect_stdout(io.StringIO()):  # it prints its progress
        truth = coco()
        truth.dataset = _truth(images)
        truth.createIndex()
        predicted = coco()
        predicted.dataset = {**truth.dataset, "annotations": _predictions(detections)}
        predicted.createIndex()
        evaluation = coco_eval(truth, predicted, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    stats = [math.nan if value < 0 else float(value) for value in evaluation.stats[:6]]
    precision = evaluation.eval["precision"][:, :, :, 0, -1]  # IoU × recall × class, 100 boxes
    return Result(
        ap=stats[0],
        ap50=stats[1],
        ap75=stats[2],
        small=stats[3],
        medium=stats[4],
        large=stats[5],
        by_class=_by_class(images.classes, precision),
        by_class50=_by_class(images.classes, precision[:1]),
        images=len(images),
        objects=int(images.counts.sum()),
    )


def best_thresholds(images: DetectionSet, detections: Sequence[Detections]) -> list[float]:
    """Return for each class the logit with the best F1 at IoU .5.

    A box is correct if it is the best for an object of its class that no better box has. Where
    nothing is correct the threshold is above every score, yet finite.
    """
    scores: list[list[float]] = [[] for _ in images.classes]
    correct: list[list[bool]] = [[] for _ in images.classes]
    total = [0] * len(images.classes)
    for objects, detected in zip(images.objects, detections, strict=True):
        boxes, labels = objects.trained()
        free = torch.ones(len(labels), dtype=torch.bool)
        overlaps = iou(detected.boxes, boxes)
        for label in labels.tolist():
            total[label] += 1
        for i, label in enumerate(detected.labels.tolist()):
            fits = overlaps[i] * (free & (labels == label))
            good = len(fits) > 0 and float(fits.max()) >= 0.5
            if good:
                free[int(fits.argmax())] = False
            scores[label].append(float(detected.scores[i]))
            correct[label].append(good)
    return [_best_f1(*rows) for rows in zip(scores, correct, total, strict=True)]


def _best_f1(scores: list[float], correct: list[bool], total: int) -> float:
    if not any(correct):
        return max(scores, default=0.0) + 1.0
    order = np.argsort(-np.array(scores), kind="stable")
    hits = np.cumsum(np.array(correct)[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + total)
    return float(np.array(scores)[order][int(f1.argmax())])


def _truth(images: DetectionSet) -> dict[str, list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(images.objects):
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
            for i, (width, height) in enumerate(images.sizes)
        ],
        "annotations": rows,
        "categories": [{"id": i, "name": name} for i, name in enumerate(images.classes)],
    }


def _predictions(detections: Sequence[Detections]) -> list[dict[str, Any]]:
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
