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
from rankwise.tasks.detection.files import Kept
from rankwise.tasks.detection.finding import detect

__all__ = ["Predicted", "predict", "require_places"]


@dataclass(frozen=True)
class Predicted:
    """Where the drawing and the json are, and how many of each class there are."""

    picture: Path
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
                "find in one of them at a time, each with a folder --out of its own"
            )


def predict(kept: Kept, image: Path, out: Path, least: float | None = None) -> Predicted:
    """Find boxes with a score of at least ``least``, a probability; None: the run's thresholds.

    Writes ``NAME.png`` and ``NAME.json`` into ``out``: boxes x1 y1 x2 y2 in pixels of the image.
    """
    require_places([image], out)
    picture = read_image(image)
    (found,) = detect(kept.network, [picture], kept.settings.augmentations, kept.settings.selection)
    found = found.above(kept.thresholds if least is None else _logit(least))
    names = [kept.classes[label] for label in found.labels.tolist()]
    rows = [
        {"class": name, "score": round(score, 6), "box": [round(side, 2) for side in box]}
        for name, score, box in zip(
            names, found.scores.sigmoid().tolist(), found.boxes.tolist(), strict=True
        )
    ]
    drawing = write_whole(out / f"{image.stem}.png", to_png(drawn(picture, found, kept.classes)))
    size = {"width": picture.shape[2], "height": picture.shape[1]}
    listed = write_json(out / f"{image.stem}.json", {"image": image.name, **size, "found": rows})
    return Predicted(drawing, listed, dict(Counter(names)))


def _logit(share: float) -> float:
    if share <= 0:
        return -math.inf
    return math.inf if share >= 1 else math.log(share / (1 - share))
