"""One image: its boxes drawn, and as json."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rankwise.data.images.image_file import read_image
from rankwise.errors import UsageError
from rankwise.report import write_json, write_whole
from rankwise.tasks.detection.drawing import drawn, to_png
from rankwise.tasks.detection.inference import detect
from rankwise.tasks.detection.pipeline import FinishedRun


@dataclass(frozen=True)
class Predicted:
    """Files of the drawing and of the boxes, and the number of boxes of each class."""

    drawing: Path
    json: Path
    counts: dict[str, int]


def require_places(images: Sequence[Path], out: Path) -> None:
    """Raise where a drawing in ``out`` would write over an image, or over another drawing."""
    drawn_from: dict[str, Path] = {}
    for image in images:
        if image.resolve().parent == out.resolve():
            raise UsageError(
                f"--out must be another folder than that of {image}, where {image.stem}.png may be "
                f"an image, got {out}"
            )
        other = drawn_from.setdefault(image.stem, image)
        if other is not image:
            raise UsageError(
                f"{other} and {image} would both be drawn as {out / image.stem}.png; "
                "detect in one of them at a time, each with a folder --out of its own"
            )


def predict(run: FinishedRun, image: Path, out: Path, least: float | None = None) -> Predicted:
    """Draw boxes with a score of at least ``least``, a probability; None: the run's thresholds.

    Writes ``NAME.png`` and ``NAME.json`` into ``out``: boxes x1 y1 x2 y2 in pixels of the image.
    """
    require_places([image], out)
    pixels, settings = read_image(image), run.settings
    (all_boxes,) = detect(run.network, [pixels], settings.augmentations, settings.selection)
    boxes = all_boxes.above(run.thresholds if least is None else _logit(least))
    names = [run.classes[label] for label in boxes.labels.tolist()]
    rows = [
        {"class": name, "score": round(score, 6), "box": [round(side, 2) for side in box]}
        for name, score, box in zip(
            names, boxes.scores.sigmoid().tolist(), boxes.boxes.tolist(), strict=True
        )
    ]
    drawing = write_whole(out / f"{image.stem}.png", to_png(drawn(pixels, boxes, run.classes)))
    size = {"width": pixels.shape[2], "height": pixels.shape[1]}
    listed = write_json(out / f"{image.stem}.json", {"image": image.name, **size, "found": rows})
    return Predicted(drawing, listed, dict(Counter(names)))


def _logit(share: float) -> float:
    if share <= 0:
        return -math.inf
    return math.inf if share >= 1 else math.log(share / (1 - share))
