"""Figures with images: neighbors of digits, long tails, anchors, two views."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.datasets import load_digits
from torch import Tensor, nn

from docs.figures.frame import (
    INK,
    ORANGE,
    PURPLE,
    RED,
    SHADES,
    TEAL,
    figure,
    label,
    panels,
    whole_numbers,
)
from rankwise import embedding_scores
from rankwise.baselines import CrossEntropy
from rankwise.metrics import average_precision
from rankwise.objectives import SOPRC, OneVsRest, StableAP, two_views
from rankwise.retrieval import evaluate, nearest
from rankwise.samplers import ClassBatches
from rankwise.vision import atss, grid_anchors

_PIXELS = LinearSegmentedColormap.from_list("pixels", [to_rgba(INK, 0.0), to_rgba(INK, 1.0)])


@cache
def _digits() -> tuple[Tensor, Tensor]:
    """1 797 handwritten digits of 8 × 8 pixels, which scikit-learn has with it."""
    bunch = load_digits()
    return torch.tensor(bunch.data, dtype=torch.float32) / 16, torch.tensor(bunch.target)


@cache
def _embedded() -> tuple[Tensor, Tensor, list[float]]:
    """Embeddings of 897 digits before and after training on 900 others, and mAP by epoch."""
    torch.manual_seed(0)
    x, y = _digits()
    network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))
    before = network(x[900:]).detach()
    loss = SOPRC(prior=0.1, score_scale=1.0, tau_fpr=0.1)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    batches = ClassBatches(y[:900], classes=10, per_class=6, seed=0)
    values = [evaluate(before, y[900:]).map]
    for epoch in range(12):
        batches.set_epoch(epoch)
        for rows in batches:
            optimizer.zero_grad()
            lists = embedding_scores(network(x[rows]), y[rows])
            loss(**lists._asdict()).backward()
            optimizer.step()
        values.append(evaluate(network(x[900:]).detach(), y[900:]).map)
    return before, network(x[900:]).detach(), values


@figure("neighbors")
def neighbors() -> Figure:
    x, y = (part[900:] for part in _digits())
    before, after, _ = _embedded()
    canvas, grid = panels(11, rows=3, height=2.4)
    for axes in grid.flat:
        axes.set_axis_off()
    for row, query in zip(grid, (8, 30, 83), strict=True):
        row[0].imshow(x[query].view(8, 8), cmap=_PIXELS)
        for start, embeddings in ((1, before), (6, after)):
            unit = nn.functional.normalize(embeddings)
            found = nearest(unit, unit[query : query + 1], k=6).rows[0].tolist()
            others = [other for other in found if other != query][:5]
            for axes, other in zip(row[start : start + 5], others, strict=True):
                axes.imshow(x[other].view(8, 8), cmap=_PIXELS)
                color = TEAL if y[other] == y[query] else RED
                axes.axhline(8, color=color, linewidth=4)
    grid[0, 0].set_title("query")
    grid[0, 1].set_title("nearest, untrained", loc="left")
    grid[0, 6].set_title("nearest, trained", loc="left")
    return canvas


@figure("map-by-epoch")
def map_by_epoch() -> Figure:
    _, _, values = _embedded()
    canvas, axes = panels(height=2.4)
    axes.plot(range(len(values)), values, "o-", color=TEAL)
    whole_numbers(axes)
    label(axes, "epoch", "mAP of images never trained on")
    return canvas


@figure("long-tail")
def long_tail() -> Figure:
    """AP of every class of a long tail: cross-entropy, and StableAP from the same start."""
    torch.manual_seed(0)
    x, y = _digits()
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(1))
    x, y = x[order], y[order]
    counts = [round(100 * 0.7**c) for c in range(10)]
    train = torch.cat([(y == c).nonzero().flatten()[: counts[c]] for c in range(10)])
    test = torch.ones(len(y), dtype=torch.bool).scatter(0, train, False)
    noisy = x + 0.35 * torch.randn(x.shape, generator=torch.Generator().manual_seed(2))
    found = {}
    for name in ("cross-entropy", "StableAP after cross-entropy"):
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
        one_hot = nn.functional.one_hot(y[train], 10)
        priors = one_hot.float().mean(0)
        losses = [OneVsRest(CrossEntropy()), OneVsRest(StableAP(priors, num_lists=10))]
        for step in range(120):
            loss = losses[int(step >= 60 and name != "cross-entropy")]
            optimizer.zero_grad()
            loss(network(noisy[train]), y[train]).backward()
            optimizer.step()
        with torch.no_grad():
            logits = network(noisy[test]).T
        found[name] = [float(average_precision(logits[c], y[test] == c)) for c in range(10)]
    canvas, (left, right) = panels(2, height=2.8, width_ratios=(1, 2))
    left.bar(range(10), counts, color=INK, alpha=0.6)
    whole_numbers(left, right)
    label(left, "class", "training images")
    for shift, (name, color) in enumerate(zip(found, (ORANGE, TEAL), strict=True)):
        right.bar(np.arange(10) + 0.4 * shift - 0.2, found[name], 0.38, color=color, label=name)
    right.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    right.set_ylim(0, 1)
    label(right, "class", "test AP")
    return canvas


@figure("anchors")
def anchors() -> Figure:
    """The anchors that ATSS assigns to two objects; all others are negatives of the list."""
    grid = grid_anchors([(16, 16), (8, 8), (4, 4)], strides=[8, 16, 32], scale=4.0)
    boxes = torch.tensor([[10.0, 10, 60, 50], [30, 62, 110, 122]])
    assigned = atss(grid, boxes)
    centers = grid.centers
    canvas, axes = panels(width=4.6, height=4.2)
    some = assigned < 0
    axes.plot(*centers[some].T, ".", color=INK, markersize=3, alpha=0.6, label="background")
    for i, color in enumerate((TEAL, ORANGE)):
        x1, y1, x2, y2 = boxes[i].tolist()
        axes.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, color=color, linewidth=2))
        mine = assigned == i
        name = f"object {i + 1}: {int(mine.sum())} anchors"
        axes.plot(*centers[mine].T, "o", color=color, markersize=5, label=name)
    axes.set(xlim=(0, 128), ylim=(128, 0), aspect="equal")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3)
    label(axes, title=f"{len(grid)} anchors, {int((~some).sum())} positive", grid=False)
    return canvas


@figure("two-views")
def two_views_lists() -> Figure:
    torch.manual_seed(0)
    first = torch.randn(8, 6)
    lists = two_views(first, first + 0.5 * torch.randn(8, 6))
    assert lists.mask is not None
    shown = np.array(lists.scores)
    shown[~np.array(lists.mask)] = np.nan
    canvas, axes = panels(width=4.6, height=4.0)
    axes.imshow(shown, cmap=SHADES)
    rows, columns = np.nonzero(np.array(lists.target))
    axes.plot(columns, rows, "s", color=PURPLE, markersize=9, fillstyle="none", markeredgewidth=2)
    axes.set_xticks([3.5, 11.5], ["first views", "second views"])
    axes.set_yticks([3.5, 11.5], ["first\nviews", "second\nviews"])
    label(axes, title="cosines of 16 anchors; squares: the positives", grid=False)
    return canvas
