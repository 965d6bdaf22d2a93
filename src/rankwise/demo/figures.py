"""Figures of the demo: mAP over the steps, precision and recall, queries and their neighbors."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import matplotlib.figure
import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.demo.race import LOSSES, Race, State
from rankwise.report import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS = (("#9e9e9e", "s-"), ("#5e35b1", "^-"), ("#00796b", "o-"))  # of the three losses
_QUERIES = 6
_NEIGHBORS = 10
_RIGHT, _WRONG = (0, 121, 107), (198, 40, 40)
_TILE, _FRAME = 64, 5  # pixels

Pixels = NDArray[np.uint8]


def progress(race: Race) -> Figure:
    """Draw the mAP of the test images at some steps of every training."""
    canvas, axes = _axes("step", "mAP of unseen characters")
    for loss, (color, marks) in zip(LOSSES, _LOOKS, strict=True):
        states = race.states[loss.name]
        steps, values = zip(*((state.step, state.result.map) for state in states), strict=True)
        axes.plot(steps, values, marks, color=color, markersize=4, linewidth=1.4, label=loss.name)
    axes.legend(fontsize=8, frameon=False)
    ends = ", ".join(f"{loss.name} {race.last(loss.name).map:.3f}" for loss in LOSSES)
    return _figure(canvas, f"mAP over {race.size.steps} steps, at the end: {ends}.")


def precision_recall(race: Race) -> Figure:
    """Draw the mean precision at each recall, after training and before it."""
    canvas, axes = _axes("recall", "mean precision")
    start = race.states[race.ours][0].result
    axes.plot(start.recall, start.precision, ":", color="black", linewidth=1, label="before")
    for loss, (color, marks) in zip(LOSSES, _LOOKS, strict=True):
        found = race.last(loss.name)
        axes.plot(found.recall, found.precision, marks, color=color, markevery=10, markersize=4,
                  linewidth=1.4, label=loss.name)  # fmt: skip
    axes.set_ylim(0, 1)
    axes.legend(fontsize=8, frameon=False)
    half = ", ".join(f"{loss.name} {race.last(loss.name).precision[50]:.2f}" for loss in LOSSES)
    words = f"Mean precision at each recall. With half of the drawings found it is: {half}."
    return _figure(canvas, words)


def neighbor_figures(race: Race) -> list[Figure]:
    """Draw some queries with their nearest neighbors, before training and after it."""
    labels = race.splits.test.labels
    classes = len(race.splits.test.classes)
    chosen = (classes * (2 * np.arange(_QUERIES) + 1)) // (2 * _QUERIES)
    first = [labels.tolist().index(number) for number in chosen.tolist()]
    return [_neighbors(race, query) for query in first]


def _neighbors(race: Race, query: int) -> Figure:
    test = race.splits.test
    assert test.pixels is not None
    rows = {"before": race.states[race.ours][0]}
    rows |= {loss.name: race.states[loss.name][-1] for loss in LOSSES}
    strips, right = [], {}
    for name, state in rows.items():
        found = _nearest(state, query)
        good = (test.labels[found] == test.labels[query]).numpy()
        right[name] = int(good.sum())
        tiles = [_tile(test.pixels[query, 0].numpy(), None)]
        tiles += [
            _tile(test.pixels[i, 0].numpy(), bool(ok)) for i, ok in zip(found, good, strict=True)
        ]
        strips.append(np.concatenate(tiles, axis=1))
    canvas, axes = _axes("", "", height=2.75)
    axes.imshow(np.concatenate(strips, axis=0))
    side = _TILE + 2 * _FRAME
    axes.set_xticks(
        [side * (i + 0.5) for i in range(_NEIGHBORS + 1)], ["query", *range(1, _NEIGHBORS + 1)]
    )
    axes.set_yticks([side * (i + 0.5) for i in range(len(rows))], list(rows))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    counts = ", ".join(f"{name} {count}" for name, count in right.items())
    character = test.classes[int(test.labels[query])].replace("/", ", ").replace("_", " ")
    words = (
        f"{character}. Right among the {_NEIGHBORS} nearest: {counts}. "
        "Green frame: the same character; red frame with a cross: another one."
    )
    return _figure(canvas, words)


def _nearest(state: State, query: int) -> torch.Tensor:
    cosines = state.embeddings @ state.embeddings[query]
    cosines[query] = -torch.inf  # the query itself
    return cosines.topk(_NEIGHBORS).indices


def _tile(image: Pixels, right: bool | None) -> Pixels:
    """Return an image in a frame; a wrong one has a cross in its corner as well."""
    large = np.kron(image, np.ones((_TILE // image.shape[0],) * 2, np.uint8))
    side = _TILE + 2 * _FRAME
    framed = np.full((side, side, 3), 255, np.uint8)
    if right is not None:
        framed[1:-1, 1:-1] = _RIGHT if right else _WRONG
    framed[_FRAME:-_FRAME, _FRAME:-_FRAME] = large[..., None]
    if right is False:
        for i in range(14):
            for column in (i, 13 - i):
                framed[
                    _FRAME + i, side - _FRAME - 14 + column - 1 : side - _FRAME - 13 + column
                ] = _WRONG
    return framed


def _axes(x_label: str, y_label: str, height: float = 3.4) -> tuple[matplotlib.figure.Figure, Axes]:
    canvas = matplotlib.figure.Figure(figsize=(7.0, height), layout="constrained")
    axes = canvas.subplots()
    axes.set_xlabel(x_label, fontsize=9)
    axes.set_ylabel(y_label, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines["top"].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    return canvas, axes


def _figure(canvas: matplotlib.figure.Figure, words: str) -> Figure:
    buffer = io.BytesIO()
    # Without the date and version the same data make the same file.
    canvas.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    return Figure(buffer.getvalue(), words, words)
