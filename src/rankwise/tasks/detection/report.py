"""Results and detections of a detector for its report, and boxes drawn on images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from PIL import Image, ImageColor, ImageDraw, ImageFont
from torch import Tensor

from rankwise.data.detection import DetectionSet, Objects
from rankwise.report import Figure, Section, Table
from rankwise.tasks.detection.evaluate import Result
from rankwise.tasks.detection.inference import Detections
from rankwise.vision.gallery import spaced, to_png

_SHOWN = 4  # test images in the report
# Distinguishable without seeing red and green apart.
_PALETTE = ("#00796b", "#c1440e", "#5e3c99", "#e0a100", "#005ab5", "#7d8790")
COLORS = tuple(map(ImageColor.getrgb, _PALETTE))
_INK = (255, 255, 255)


def report_sections(
    results: Mapping[str, Result],
    images: DetectionSet,
    detections: Sequence[Detections],
    thresholds: Sequence[float],
    best_step: int,
) -> list[Section]:
    """Return the sections of one detector and its detections in the test images."""
    ((name, result),) = results.items()
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
            "Detections",
            [f"Boxes above the threshold with the best F1 on validation: {least}."],
            figures=shown,
        ),
        Section(
            "Average precision on the test images",
            [f"The detector {kept}, the best on validation."],
            tables=[results_table(results), Table(("class", "AP", "AP50"), by_class)],
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
    words = f"{images.called(row)} with its {len(objects)} true boxes; predicted: {counted}."
    columns, width = (2, 480) if len(tiles) == 2 else (4, 300)
    return Figure(to_png(tiled(tiles, columns, width)), words, words)


def per_cent(value: float) -> str:
    """Format a share in per cent; a dash for NaN."""
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def drawn(image: Tensor, found: Detections, classes: Sequence[str]) -> Image.Image:
    """Draw detections on an image, uint8 (3, h, w), with the scores as probabilities."""
    words = [
        f"{classes[label]} {score:.2f}"
        for label, score in zip(found.labels.tolist(), found.scores.sigmoid().tolist(), strict=True)
    ]
    return _marked(image, found.boxes, found.labels, words)


def drawn_truth(image: Tensor, objects: Objects, classes: Sequence[str]) -> Image.Image:
    """Draw the objects of an image; the name of an ignored one is in brackets."""
    words = [
        f"({classes[label]})" if ignored else classes[label]
        for label, ignored in zip(objects.labels.tolist(), objects.ignored.tolist(), strict=True)
    ]
    return _marked(image, objects.boxes, objects.labels, words)


def tiled(tiles: Sequence[tuple[str, Image.Image]], columns: int, width: int = 300) -> Image.Image:
    """Arrange images, ``width`` pixels wide, in a grid with a title above each."""
    font, gap, head = ImageFont.load_default(13), 6, 20
    height = head + max(round(one.height * width / one.width) for _, one in tiles)
    rows = -(-len(tiles) // columns)
    size = (columns * (width + gap) - gap, rows * (height + gap) - gap)
    sheet = Image.new("RGB", size, _INK)
    pen = ImageDraw.Draw(sheet)
    for number, (title, one) in enumerate(tiles):
        left, top = number % columns * (width + gap), number // columns * (height + gap)
        pen.text((left + 2, top + 2), title, fill=(29, 39, 48), font=font)
        small = (width, round(one.height * width / one.width))
        sheet.paste(one.resize(small, Image.Resampling.LANCZOS), (left, top + head))
    return sheet


def _marked(pixels: Tensor, boxes: Tensor, labels: Tensor, words: Sequence[str]) -> Image.Image:
    image = Image.fromarray(pixels.permute(1, 2, 0).contiguous().numpy())
    pen = ImageDraw.Draw(image)
    side = max(image.size)
    font, line = ImageFont.load_default(max(9, side // 48)), max(1, side // 250)
    worst_first = torch.arange(len(labels)).flip(0).tolist()  # the best is drawn over the others
    for i in worst_first:
        color = COLORS[int(labels[i]) % len(COLORS)]
        x1, y1, x2, y2 = boxes[i].tolist()
        pen.rectangle((x1, y1, max(x2, x1 + 1), max(y2, y1 + 1)), outline=color, width=line)
        left, top, right, bottom = pen.textbbox((0, 0), words[i], font=font)
        tall, wide = bottom - top + 2 * line, right - left + 2 * line
        over = y1 - tall if y1 >= tall else y1
        at = min(max(x1, 0), max(0, image.width - wide))
        pen.rectangle((at, over, at + wide, over + tall), fill=color)
        pen.text((at + line - left, over + line - top), words[i], fill=_INK, font=font)
    return image
