"""Queries with their first results, framed green or red, and their curves of precision–recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.axes import Axes
from numpy.typing import NDArray
from torch.nn.functional import interpolate

from rankwise.data.images import ImageSet
from rankwise.report import Figure
from reproductions.drawing import COLORS, canvas, plain, png

_SIDE, _FRAME, _GAP = 56, 4, 3  # pixels
_TILE = _SIDE + 2 * (_FRAME + _GAP)
_NAMES = 112  # pixels between the query and its results
_LINES = (COLORS[3], "#555555")  # of the methods; not green or red, as the frames are
_RIGHT, _WRONG, _ASKED = (0, 140, 60), (200, 30, 30), (60, 60, 60)

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float64]


def tile(images: ImageSet, row: int, color: tuple[int, int, int]) -> Pixels:
    """One image in a frame, with some white around it, (h, w, 3)."""
    image = images.load(row).unsqueeze(0).float()
    # Small images keep their pixels, large ones are made small without noise.
    small = max(image.shape[-2:]) < _SIDE
    how = {"mode": "nearest"} if small else {"mode": "bilinear", "antialias": True}
    inner = interpolate(image, (_SIDE, _SIDE), **how)[0].round().clamp(0, 255)
    found = np.full((_TILE, _TILE, 3), 255, dtype=np.uint8)
    found[_GAP : _TILE - _GAP, _GAP : _TILE - _GAP] = color
    edge = _FRAME + _GAP
    found[edge : _TILE - edge, edge : _TILE - edge] = inner.to(torch.uint8).permute(1, 2, 0).numpy()
    return found


@dataclass(frozen=True)
class Answers:
    """What a method answers to the queries: its first results, and the ranks of all positives."""

    method: str
    found: Sequence[Sequence[int]]
    ranks: Sequence[Sequence[int]]

    def curve(self, number: int) -> tuple[Floats, Floats]:
        """Recall and precision at the rank of each positive of a query."""
        ranks = np.asarray(self.ranks[number], dtype=np.float64)
        count = np.arange(1, len(ranks) + 1)
        return count / len(ranks), count / ranks

    @property
    def average_precisions(self) -> list[float]:
        """AP of each query."""
        return [float(self.curve(number)[1].mean()) for number in range(len(self.ranks))]


def gallery(
    images: ImageSet, queries: Sequence[int], answers: Sequence[Answers], name: str
) -> Figure:
    """For each query a row of results of every method, and their curves of precision–recall."""
    strips = [_strip(images, query, answers, number) for number, query in enumerate(queries)]
    height, width = strips[0].shape[:2]
    wide, curve = 8.0, 3.0  # inches, of the images and of the curves
    figure, axes = canvas(
        len(queries), 2, width=wide + curve, height=wide * height / width + 0.12,
        width_ratios=(wide, curve),
    )  # fmt: skip
    for number, (strip, row) in enumerate(zip(strips, axes, strict=True)):
        row[0].imshow(strip, interpolation="none")
        row[0].set_axis_off()
        _curves(row[1], answers, number)
        for line, each in enumerate(answers):
            words = each.method.replace(" + ", "\n+ ").replace(", ", ",\n")
            place = _TILE + _NAMES / 2, (line + 0.5) * _TILE
            row[0].text(*place, words, color=_LINES[line], ha="center", va="center", fontsize=9)
    axes[-1, 1].set_xlabel("recall", fontsize=8)
    shown = sum(len(results) for results in answers[0].found)
    right = ", ".join(f"{each.method} {_right(images, queries, each)}" for each in answers)
    words = f"{name}: the first results of {len(queries)} random test images, best first"
    means = "; ".join(
        f"{each.method} {', '.join(f'{ap:.2f}' for ap in each.average_precisions)}"
        for each in answers
    )
    return Figure(
        png(figure),
        f"{words}. Of {shown} results of each method are right: {right}. AP by query: {means}.",
        f"{words}, and precision by recall over all images of the class. Green: of the same class; "
        f"red: not. Right of {shown}: {right}. First seed.",
    )


def _strip(images: ImageSet, query: int, answers: Sequence[Answers], number: int) -> Pixels:
    """The query on the left, space for the names, and a line of results for each method."""
    lines = [
        np.concatenate(
            [
                tile(images, row, _RIGHT if _same(images, row, query) else _WRONG)
                for row in each.found[number]
            ],
            axis=1,
        )
        for each in answers
    ]
    results = np.concatenate(lines)
    left = np.full((len(results), _TILE + _NAMES, 3), 255, dtype=np.uint8)
    top = (len(results) - _TILE) // 2
    left[top : top + _TILE, :_TILE] = tile(images, query, _ASKED)
    return np.concatenate([left, results], axis=1)


def _curves(axes: Axes, answers: Sequence[Answers], number: int) -> None:
    for line, each in enumerate(answers):
        recall, precision = each.curve(number)
        name, color = f"AP {each.average_precisions[number]:.2f}", _LINES[line]
        axes.plot(recall, precision, ".-", markersize=3, linewidth=1.4, label=name, color=color)
    plain(axes, y="precision")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.05)
    axes.legend(fontsize=8, frameon=False, labelcolor="linecolor", handlelength=1.2)


def _right(images: ImageSet, queries: Sequence[int], answers: Answers) -> int:
    pairs = zip(queries, answers.found, strict=True)
    return sum(_same(images, row, query) for query, results in pairs for row in results)


def _same(images: ImageSet, row: int, query: int) -> bool:
    return bool(images.labels[row] == images.labels[query])
