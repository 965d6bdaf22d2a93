"""The report of a run: its results, examples of detections, training and settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankwise.data.detection import DetectionSet
from rankwise.report import Figure, Section, Table
from rankwise.tasks.detection.drawing import drawn, drawn_truth, tiled, to_png
from rankwise.tasks.detection.evaluate import Result
from rankwise.tasks.detection.inference import Detections
from rankwise.vision.run import History

_SHOWN = 4  # test images in the report


def report_sections(
    name: str,
    images: DetectionSet,
    result: Result,
    detections: Sequence[Detections],
    *,
    thresholds: Sequence[float],
    best_step: int,
) -> list[Section]:
    """Return the sections of a detector and its detections in the test images."""
    shown = [
        image_figure(images, i, {name: detections[i].above(thresholds)})
        for i in spaced(len(images), _SHOWN)
    ]
    least = ", ".join(
        f"{called} {1 / (1 + math.exp(-value)):.2f}"
        for called, value in zip(images.classes, thresholds, strict=True)
    )
    kept = f"after step {best_step}" if best_step else "before training"
    by_class = [
        (called, per_cent(value), per_cent(result.by_class50[called]))
        for called, value in result.by_class.items()
    ]
    return [
        Section(
            "Average precision on the test images",
            [f"The detector {kept}, the best of validation."],
            tables=[results_table({name: result}), Table(("class", "AP", "AP50"), by_class)],
        ),
        Section(
            "Detections",
            [f"Boxes with the score where F1 of validation is best, or a higher one: {least}."],
            figures=shown,
        ),
    ]


def results_table(results: Mapping[str, Result]) -> Table:
    """Return one row for each detector, with the columns of COCO."""
    rows = [
        (name, *map(per_cent, (r.ap, r.ap50, r.ap75, r.small, r.medium, r.large)))
        for name, r in results.items()
    ]
    one = next(iter(results.values()))
    caption = (
        f"Per cent, by pycocotools; {one.images:,} images, {one.objects:,} objects. "
        "S, M, L: below 32², to 96², above."
    )
    return Table(("detector", "AP", "AP50", "AP75", "AP_S", "AP_M", "AP_L"), rows, caption)


def image_figure(images: DetectionSet, row: int, found: Mapping[str, Detections]) -> Figure:
    """Return one image with its true boxes, next to the detections of each detector."""
    image, objects, classes = images.load(row), images.objects[row], images.classes
    tiles = [("true", drawn_truth(image, objects, classes))]
    tiles += [(name, drawn(image, boxes, classes)) for name, boxes in found.items()]
    counted = ", ".join(f"{name} {len(boxes)}" for name, boxes in found.items())
    words = f"{images.called(row)} with its {len(objects)} true boxes; found: {counted}."
    columns, width = (2, 480) if len(tiles) == 2 else (4, 300)
    return Figure(to_png(tiled(tiles, columns, width)), words, words)


def spaced(there: int, wanted: int) -> list[int]:
    """Return ``wanted`` rows, evenly spaced over ``there`` of them."""
    found = min(there, wanted)
    return [there * i // found for i in range(found)]


def per_cent(value: float) -> str:
    """Format a share in per cent; a dash for NaN."""
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def history_table(trained: History) -> Table:
    """Return one row for each validation."""
    rows = [
        (int(r["step"]), f"{r['loss']:.4f}", f"{r['learning_rate']:.2g}", per_cent(r["ap"]))
        for r in trained.history
    ]
    return Table(("step", "mean loss", "learning rate", "validation AP"), rows)
