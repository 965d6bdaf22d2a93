"""Average precision as COCO counts it, by COCO's own code (pycocotools)."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.data.detection import DetectionSet, Objects
from rankwise.extras import require
from rankwise.files import nan_to_none
from rankwise.tasks.detection.inference import Detections
from rankwise.vision.boxes import iou

Row = dict[str, object]


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

    def as_json(self) -> object:
        """Return the values, None for NaN."""
        return nan_to_none(asdict(self))


def evaluate(images: DetectionSet, detections: Sequence[Detections]) -> Result:
    """Compute COCO's metrics of the detections in the images of a set, in their order."""
    if len(detections) != len(images):
        raise ValueError(
            f"detections must be one for each of {len(images)} images, got {len(detections)}"
        )
    require("rankwise.tasks.detection", "pycocotools")
    from pycocotools.coco import COCO  # noqa: PLC0415  (an extra)
    from pycocotools.cocoeval import COCOeval  # noqa: PLC0415

    with redirect_stdout(io.StringIO()):  # it prints its progress
        truth = COCO()
        truth.dataset = {
            "images": [{"id": i, "width": w, "height": h} for i, (w, h) in enumerate(images.sizes)],
            "annotations": _annotations(images.objects, area="areas", iscrowd="ignored"),
            "categories": [{"id": i, "name": name} for i, name in enumerate(images.classes)],
        }
        truth.createIndex()
        predicted = COCO()
        predicted.dataset = {
            **truth.dataset,
            "annotations": _annotations(detections, score="scores"),
        }
        predicted.createIndex()
        evaluation = COCOeval(truth, predicted, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    known = (math.nan if value < 0 else float(value) for value in evaluation.stats[:6])
    ap, ap50, ap75, small, medium, large = known
    precision = evaluation.eval["precision"][:, :, :, 0, -1]  # IoU × recall × class, 100 boxes
    return Result(
        *(ap, ap50, ap75, small, medium, large),
        by_class=_by_class(images.classes, precision),
        by_class50=_by_class(images.classes, precision[:1]),
        images=len(images),
        objects=int(images.counts.sum()),
    )


class Matched(NamedTuple):
    """The boxes of one class: their scores, whether each is correct, and the number of objects."""

    scores: list[float]
    correct: list[bool]
    objects: int


def match(images: DetectionSet, detections: Sequence[Detections]) -> list[Matched]:
    """Return the boxes of each class.

    A box is correct if it has an IoU of .5 or more with an object of its class, and is the best for
    it that no better box has.
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
    return [Matched(*rows) for rows in zip(scores, correct, total, strict=True)]


def best_thresholds(images: DetectionSet, detections: Sequence[Detections]) -> list[float]:
    """Return for each class the logit with the best F1 at IoU .5.

    Where nothing is correct the threshold is above every score, yet finite.
    """
    return [_best_f1(*own) for own in match(images, detections)]


def sentence(matched: Sequence[Matched], thresholds: Sequence[float]) -> str:
    """Return how many objects are found with the thresholds, and how many boxes are wrong."""
    drawn = [
        good
        for own, least in zip(matched, thresholds, strict=True)
        for score, good in zip(own.scores, own.correct, strict=True)
        if score >= least
    ]
    found, objects = sum(drawn), sum(own.objects for own in matched)
    wrong = f"{len(drawn) - found:,} of its {len(drawn):,} boxes are wrong"
    boxes = wrong if drawn else "it draws no box"
    return f"The detector finds {found:,} of the {objects:,} objects in the test images; {boxes}."


def _best_f1(scores: list[float], correct: list[bool], total: int) -> float:
    if not any(correct):
        return max(scores, default=0.0) + 1.0
    order = np.argsort(-np.array(scores), kind="stable")
    hits = np.cumsum(np.array(correct)[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + total)
    return float(np.array(scores)[order][int(f1.argmax())])


def _annotations(images: Sequence[Objects | Detections], **columns: str) -> list[Row]:
    """Return a record of COCO for each box, with more columns by the names they have here."""
    rows: list[Row] = []
    for number, one in enumerate(images):
        more = {name: getattr(one, source).tolist() for name, source in columns.items()}
        for i, (box, label) in enumerate(zip(one.boxes.tolist(), one.labels.tolist(), strict=True)):
            x, y, width, height = box[0], box[1], box[2] - box[0], box[3] - box[1]
            row: Row = {"image_id": number, "category_id": label, "bbox": [x, y, width, height]}
            row |= {"area": width * height, "iscrowd": 0} | {n: v[i] for n, v in more.items()}
            rows.append({"id": len(rows) + 1, **row})  # an id of 0 would be no match to COCO
    return rows


def _by_class(classes: Sequence[str], precision: NDArray[np.float64]) -> dict[str, float]:
    known = {
        name: own[own > -1] for name, own in zip(classes, np.moveaxis(precision, 2, 0), strict=True)
    }
    return {name: float(own.mean()) if own.size else math.nan for name, own in known.items()}
