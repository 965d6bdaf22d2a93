"""Which part of a ranking each metric looks at."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from docs.figures.frame import INK, ORANGE, PURPLE, TEAL, figure, label, panels, whole_numbers
from rankwise.metrics import (
    auprg,
    auroc,
    average_precision,
    bootstrap_interval,
    ndcg,
    pap_at_k,
    partial_auroc,
    precision_recall_curve,
    precision_recall_gain_curve,
    roc_curve,
    two_way_partial_auroc,
)


def _list(n: int = 400, positives: int = 80, shift: float = 1.1) -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    target = torch.arange(n) < positives
    return torch.randn(n, dtype=torch.double) + shift * target, target


@figure("partial-auc")
def partial_auc() -> Figure:
    scores, target = _list()
    curve = roc_curve(scores, target)
    fpr, tpr = np.asarray(curve.fpr), np.asarray(curve.tpr)
    canvas, (left, right) = panels(2, height=3.4)
    for axes in (left, right):
        axes.plot(fpr, tpr, color=TEAL)
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="--")
        axes.set_aspect("equal")
    one = float(partial_auroc(scores, target, max_fpr=0.3))
    left.fill_between(fpr, tpr, where=fpr <= 0.3, color=ORANGE, alpha=0.5, linewidth=0)
    label(
        left, "false positive rate", "true positive rate", f"partial AUC, max_fpr = 0.3: {one:.2f}"
    )
    two = float(two_way_partial_auroc(scores, target, min_tpr=0.5, max_fpr=0.4))
    inside = (fpr <= 0.4) & (tpr >= 0.5)
    right.fill_between(fpr, tpr, 0.5, where=inside, color=PURPLE, alpha=0.5, linewidth=0)
    label(right, "false positive rate", title=f"two-way, min_tpr = 0.5, max_fpr = 0.4: {two:.2f}")
    return canvas


@figure("pairs-that-count")
def pairs_that_count() -> Figure:
    """Which pairs enter each metric of one list of 12 positives and 30 negatives."""
    torch.manual_seed(2)
    positives = (torch.randn(12, dtype=torch.double) + 1.4).sort(descending=True).values
    negatives = torch.randn(30, dtype=torch.double).sort(descending=True).values
    scores, target = torch.cat([positives, negatives]), torch.arange(42) < 12
    right_order = (positives[:, None] > negatives).double()
    parts = {
        "AUROC": (slice(0, 12), slice(0, 30), auroc(scores, target)),
        "partial AUC, max_fpr 0.2": (
            slice(0, 12),
            slice(0, 6),
            partial_auroc(scores, target, max_fpr=0.2),
        ),
        "two-way, min_tpr 0.5, max_fpr 0.2": (
            slice(6, 12),
            slice(0, 6),
            two_way_partial_auroc(scores, target, min_tpr=0.5, max_fpr=0.2),
        ),
        "pAp@5": (slice(0, 5), slice(0, 5), pap_at_k(scores, target, k=5)),
    }
    canvas, grid = panels(2, rows=2, height=3.8, sharex=True, sharey=True)
    for axes, (name, (rows, columns, value)) in zip(grid.flat, parts.items(), strict=True):
        shown = np.zeros((12, 30, 4))
        shown[..., :3] = np.where(right_order[..., None] > 0, (0.0, 0.59, 0.53), (0.88, 0.52, 0.0))
        shown[..., 3] = 0.13
        shown[rows, columns, 3] = 0.95
        np.testing.assert_allclose(right_order[rows, columns].mean(), float(value), atol=1e-12)
        axes.imshow(shown, aspect="auto", interpolation="nearest")
        whole_numbers(axes)
        axes.set_yticks([0, 5, 10], ["1", "6", "11"])
        label(axes, title=f"{name} = {float(value):.2f}", grid=False)
    for axes in grid[1]:
        axes.set_xlabel("negatives, highest first")
    for axes in grid[:, 0]:
        axes.set_ylabel("positives")
    return canvas


@figure("ndcg-discount")
def ndcg_discount() -> Figure:
    """The value of a single relevant document at each rank, and the gain of a relevance."""
    ranks = range(1, 21)
    values = []
    for rank in ranks:
        relevance = torch.zeros(20)
        relevance[rank - 1] = 1
        values.append(float(ndcg(-torch.arange(20.0), relevance)))
    canvas, (left, right) = panels(2, height=2.7, width_ratios=(2, 1))
    left.bar(ranks, values, color=[TEAL if rank <= 10 else INK for rank in ranks])
    whole_numbers(left)
    label(
        left,
        "rank of the only relevant document",
        "NDCG",
        "discount 1/log₂(1 + rank); teal: NDCG@10",
    )
    levels = np.arange(5)
    right.plot(levels, 2.0**levels - 1, "o-", color=TEAL, label='gain="exponential"')
    right.plot(levels, levels, "o-", color=ORANGE, label='gain="linear"')
    right.legend()
    label(right, "relevance", "gain")
    return canvas


@figure("same-auroc")
def same_auroc() -> Figure:
    """Two rankings with the same AUROC; one has its positives at the very top or far down."""
    n, positives = 1_000, 50
    even = torch.zeros(n, dtype=torch.bool)
    even[torch.linspace(20, 380, positives).long()] = True
    top = torch.zeros(n, dtype=torch.bool)
    top[:22] = True
    rest = positives - 22
    # The rest are placed so that the sum of the ranks, and with it AUROC, stays the same.
    center = (int(even.nonzero().sum()) - sum(range(22))) / rest
    top[(torch.arange(rest) - (rest - 1) / 2 + center).round().long()] = True
    scores = -torch.arange(float(n))
    canvas, (left, right) = panels(2, height=2.9, width_ratios=(3, 2))
    for row, (target, name, color) in enumerate(((even, "A", ORANGE), (top, "B", TEAL)), start=1):
        at = target.nonzero().flatten()
        area, ap = float(auroc(scores, target)), float(average_precision(scores, target))
        left.plot(at + 1, np.full(positives, row), "|", color=color, markersize=22)
        left.text(0, row + 0.3, f"{name}: AUROC {area:.2f}, AP {ap:.2f}", color=color)
        curve = precision_recall_curve(scores, target)
        right.plot(curve.recall[::4], curve.precision[::4], color=color, label=name)
    left.set_ylim(0.6, 2.6)
    left.set_xlim(-10, 600)
    left.set_yticks([1, 2], ["A", "B"])
    label(left, "rank, first on the left", title="where the 50 positives of 1 000 are")
    right.legend()
    label(right, "recall", "precision")
    return canvas


@figure("precision-recall-gain")
def precision_recall_gain() -> Figure:
    """The same two classes at two shares of positives, in both kinds of curve."""
    torch.manual_seed(3)
    canvas, (left, right) = panels(2, height=2.9)
    for positives, color in ((100, ORANGE), (1_000, TEAL)):
        target = torch.arange(2_000) < positives
        scores = torch.randn(2_000, dtype=torch.double) + 1.5 * target
        share = positives / len(target)
        ap, area = float(average_precision(scores, target)), float(auprg(scores, target))
        curve = precision_recall_curve(scores, target)
        shown = slice(None, None, max(1, positives // 100))
        left.plot(
            curve.recall[shown], curve.precision[shown], color=color, label=f"π = {share:.2g}"
        )
        left.axhline(share, color=color, linewidth=0.8, linestyle="--")
        left.text(0.45, share + 0.02, f"AP {ap:.2f}", color=color)
        gain = precision_recall_gain_curve(scores, target)
        right.plot(gain.recall_gain[shown], gain.precision_gain[shown], color=color)
        right.text(0.05, 0.2 + share / 4, f"AUPRG {area:.2f}", color=color)
    right.axhline(0, color=INK, linewidth=0.8, linestyle="--")
    right.set_ylim(-0.1, 1.05)
    left.legend()
    label(left, "recall", "precision", "dashed: all are positive")
    label(right, "recall gain", "precision gain", "0: all are positive")
    return canvas


@figure("interval-width")
def interval_width() -> Figure:
    """The 95 % interval of AP by the number of positives in the test part."""
    counts = (10, 20, 50, 100, 200, 500)
    values, low, high = [], [], []
    for count in counts:
        torch.manual_seed(7)
        target = torch.arange(100 * count) < count
        scores = torch.randn(100 * count, dtype=torch.double) + 2.5 * target
        interval = bootstrap_interval(average_precision, scores, target, resamples=200)
        values.append(interval.value)
        low.append(interval.value - interval.low)
        high.append(interval.high - interval.value)
    canvas, axes = panels(height=2.7)
    axes.errorbar(counts, values, (low, high), fmt="o", color=TEAL, capsize=3)
    axes.set_xscale("log")
    axes.set_xticks(counts, [f"{count:,}".replace(",", " ") for count in counts])
    axes.minorticks_off()
    axes.set_ylim(0, 1)
    label(axes, "positives in the test part, 1 % of its rows", "AP with its 95 % interval")
    return canvas
