"""Drawings of boxes with names and scores on images."""

from __future__ import annotations

import io
from collections.abc import Sequence

import torch
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from rankwise.data.detection import Objects
from rankwise.tasks.detection.inference import Detections

# Distinguishable without seeing red and green apart.
COLORS = (
    (0, 121, 107),
    (193, 68, 14),
    (94, 60, 153),
    (224, 161, 0),
    (0, 90, 181),
    (125, 135, 144),
)
_INK = (255, 255, 255)


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


def to_png(image: Image.Image) -> bytes:
    """Return the bytes of a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


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
