"""Embeddings of a few test classes on a plane, before training and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.report import Figure
from rankwise.retrieval import evaluate
from reproductions.drawing import canvas, plain, png
from reproductions.frame import Runs
from reproductions.reduction import reducer
from reproductions.retrieval.benches import Bench, Trial
from reproductions.retrieval.cell import Cell
from reproductions.retrieval.tables import best_of, of_method

# Twelve colors in six hues, dark and light; neighbors also differ in their marks.
_COLORS = (
    "#a6cee3", "#1f78b4", "#b2df8a", "#33a02c", "#fb9a99", "#e31a1c",
    "#fdbf6f", "#ff7f00", "#cab2d6", "#6a3d9a", "#c8b560", "#b15928",
)  # fmt: skip
_MARKS = "o^sD"

Point = tuple[float, float]


@dataclass(frozen=True)
class Side:
    """A map: a point for each image, and the mAP of these images among themselves."""

    points: tuple[Point, ...]
    map: float
    share: float | None  # of the variance of the embeddings, in two components; None: UMAP


@dataclass(frozen=True)
class Map:
    """The same images before training and after, by one method."""

    problem: str
    kind: str
    method: str
    seed: int
    classes: tuple[int, ...]  # the class of each image
    before: Side
    after: Side

    @property
    def sides(self) -> tuple[tuple[str, Side], ...]:
        """Both maps with their names."""
        return ("before training", self.before), (f"after training by {self.method}", self.after)


def rows_of(labels: Tensor, count: int) -> NDArray[np.int64]:
    """All images of some classes, drawn without a look at any result."""
    known = labels.numpy()
    classes = np.random.default_rng(len(known)).permutation(np.unique(known))[:count]
    return np.flatnonzero(np.isin(known, classes))


def map_of(bench: Bench, cells: Sequence[Cell], ours: Sequence[str], runs: Runs) -> Map:
    """The map of the best of ours by validation, trained again with its first seed."""
    plan, place = bench.plan, (bench.problem.name, bench.kind)
    own = [cell for cell in cells if cell.bench == place]
    cell = of_method(own, best_of(own, ours))[0]
    labels = bench.problem.splits.test.labels
    rows = rows_of(labels, plan.mapped)
    (method,) = (m for m in plan.methods if m.name == cell.method)
    trial = Trial(method, cell.objective, cell.rate, cell.seed)
    name = f"{' / '.join(place)} / {cell.method} / {cell.objective} {cell.rate:g} / "
    name += f"seed {cell.seed} / map of {plan.mapped} classes by {plan.reduction}"
    kept = runs.get(name, partial(_sides, bench, trial, rows))
    before, after = (_kept(kept[when]) for when in ("before", "after"))
    return Map(*place, cell.method, cell.seed, tuple(labels[rows].tolist()), before, after)


def _kept(side: dict[str, Any]) -> Side:
    return Side(tuple((x, y) for x, y in side["points"]), side["map"], side["share"])


def _sides(bench: Bench, trial: Trial, rows: NDArray[np.int64]) -> dict[str, Any]:
    networks = {"before": bench.start(trial), "after": bench.train(trial)[0]}
    return {
        name: _side(bench, bench.test(network.eval())[rows], rows)
        for name, network in networks.items()
    }


@torch.no_grad()
def _side(bench: Bench, embeddings: Tensor, rows: NDArray[np.int64]) -> dict[str, Any]:
    found = embeddings.double().numpy()
    reduction = bench.plan.reduction
    points = reducer(reduction)(found, 2, 0)
    share = float(points.var(0).sum() / found.var(0).sum())
    labels = bench.problem.splits.test.labels[rows]
    return {
        "points": points.round(4).tolist(),
        "map": evaluate(embeddings, labels, hits=(1,)).map,
        "share": share if reduction == "pca" else None,
    }


def map_figure(maps: Sequence[Map], names: Sequence[str], reduction: str) -> Figure:
    """A row for each setting of a data set, before on the left and after on the right."""
    figure, axes = canvas(len(maps), 2, height=4.1)
    said = []
    for row, drawn in zip(axes, maps, strict=True):
        numbers = list(dict.fromkeys(drawn.classes))
        for place, (when, side) in zip(row, drawn.sides, strict=True):
            points, labels = np.array(side.points), np.array(drawn.classes)
            for number, label in enumerate(numbers):
                style = {"color": _COLORS[number % len(_COLORS)], "marker": _MARKS[number % 4]}
                own = points[labels == label]
                place.scatter(*own.T, s=13, linewidths=0, label=names[label], **style)
            plain(place, title=f"{drawn.kind}, {when}, mAP {side.map:.3f}")
            place.set_xticks([])
            place.set_yticks([])
            # Distances are what a map shows: both directions have one scale.
            place.set_aspect("equal", adjustable="datalim")
            held = "" if side.share is None else f" ({side.share:.0%} of the variance is shown)"
            said.append(f"{drawn.kind}, {when}: mAP {side.map:.3f}{held}")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False,
        markerscale=1.6,
    )  # fmt: skip
    first = maps[0]
    by = {"pca": "their two principal components", "umap": "UMAP"}[reduction]
    words = (
        f"{first.problem}: embeddings of all {len(first.classes)} images of "
        f"{len(set(first.classes))} test classes by {by}, a color and a mark for each class"
    )
    return Figure(
        png(figure),
        f"{words}. {'; '.join(said)}.",
        f"{words}; mAP of these images among themselves. {'; '.join(said)}.",
    )
