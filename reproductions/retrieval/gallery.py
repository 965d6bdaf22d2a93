"""Queries with their first results, framed green where the class is right and red where not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import interpolate

from rankwise.data.images import ImageSet
from rankwise.report import Figure
from reproductions.drawing import canvas, png

_SIDE, _FRAME, _GAP = 56, 4, 3  # pixels
_RIGHT, _WRONG, _ASKED = (0, 140, 60), (200, 30, 30), (60, 60, 60)

Pixels = NDArray[np.uint8]


def tile(images: ImageSet, row: int, color: tuple[int, int, int]) -> Pixels:
    """One image in a frame, with some white around it, (h, w, 3)."""
    image = images.load(row).unsqueeze(0).float()
    # Small images keep their pixels, large ones are made small without noise.
    small = max(image.shape[-2:]) < _SIDE
    how = {"mode": "nearest"} if small else {"mode": "bilinear", "antialias": True}
    inner = interpolate(image, (_SIDE, _SIDE), **how)[0].round().clamp(0, 255)
    side = _SIDE + 2 * (_FRAME + _GAP)
    found = np.full((side, side, 3), 255, dtype=np.uint8)
    found[_GAP : side - _GAP, _GAP : side - _GAP] = color
    edge = _FRAME + _GAP
    found[edge : side - edge, edge : side - edge] = inner.to(torch.uint8).permute(1, 2, 0).numpy()
    return found


def gallery(
    images: ImageSet,
    queries: Sequence[int],
    found: Mapping[str, Sequence[Sequence[int]]],
    name: str,
) -> Figure:
    """A row for each query; ``found`` has the first results of every query by method."""
    rows, right = [], dict.fromkeys(found, 0)
    for number, query in enumerate(queries):
        blocks = [tile(images, query, _ASKED)]
        for method, results in found.items():
            blocks.append(np.full((blocks[0].shape[0], 14, 3), 255, dtype=np.uint8))
            for row in results[number]:
                same = bool(images.labels[row] == images.labels[query])
                right[method] += same
                blocks.append(tile(images, row, _RIGHT if same else _WRONG))
        rows.append(np.concatenate(blocks, axis=1))
    whole = np.concatenate(rows)
    height, width = whole.shape[:2]
    figure, axes = canvas(1, 1, width=11.0, height=11.0 * height / width + 0.3)
    axes[0, 0].imshow(whole, interpolation="none")
    axes[0, 0].set_axis_off()
    side = rows[0].shape[0]
    axes[0, 0].text(side / 2, -6, "query", ha="center", fontsize=9)
    start = float(side)
    for method, results in found.items():
        wide = side * len(results[0])
        axes[0, 0].text(start + 14 + wide / 2, -6, method, ha="center", fontsize=9)
        start += 14 + wide
    shown = sum(len(results) for results in next(iter(found.values())))
    counts = ", ".join(f"{method} {count}" for method, count in right.items())
    words = f"{name}: the first results of {len(queries)} random test images, best first."
    return Figure(
        png(figure), f"{words} Of {shown} results of each method are right: {counts}.",
        f"{words} Green: of the same class; red: not. Right of {shown}: {counts}. First seed.",
    )  # fmt: skip
