"""The share of positives: in the data set, in the batch, and in the loss."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.figure import Figure

from docs.figures.frame import COLORS, INK, ORANGE, TEAL, figure, label, panels
from rankwise.metrics import auprc, precision_recall_curve
from rankwise.samplers import BalancedBatches
from rankwise.theory import estimator_bias, simulate


@figure("precision-by-prior")
def precision_by_prior() -> Figure:
    """One set of scores; the weights of the negatives make it a data set with another prior."""
    torch.manual_seed(0)
    target = torch.arange(60_000) < 20_000
    scores = torch.randn(60_000, dtype=torch.double) + 1.5 * target
    canvas, axes = panels(height=3.2)
    for prior, color in zip((0.5, 0.1, 0.01, 0.001), COLORS, strict=False):
        weight = torch.where(target, 1.0, (1 - prior) / prior / 2).double()
        curve = precision_recall_curve(scores, target, weight=weight)
        at = np.searchsorted(-np.asarray(curve.recall), -np.linspace(1, 0.005, 120))
        value = float(auprc(scores, target, prior=prior))
        axes.plot(
            curve.recall[at], curve.precision[at], color=color, label=f"{prior:g}: {value:.2f}"
        )
    axes.legend(
        title="positives: AUPRC", title_fontsize=8.5, loc="upper left", bbox_to_anchor=(1, 1)
    )
    label(axes, "recall", "precision", "the same scores, four data sets")
    return canvas


@figure("batch-bias")
def batch_bias() -> Figure:
    population = simulate("binormal", size=20_000, prior=0.05)
    rates = (0.05, 0.1, 0.2, 0.35, 0.5)
    found = [
        estimator_bias(population, rate=rate, size=400, draws=250, chains=25, burn_in=60)
        for rate in rates
    ]
    canvas, axes = panels(height=3.0)
    for i, color in enumerate(COLORS[:3]):
        values = [each[i].estimate.value for each in found]
        spread = [1.96 * each[i].estimate.standard_error for each in found]
        axes.errorbar(rates, values, spread, fmt="o-", color=color, label=found[0][i].estimator)
    axes.axhline(population.risk, color=INK, linestyle="--", linewidth=1, label="population")
    axes.set_ylim(0, 1)
    axes.legend()
    label(
        axes, "share of positives in a batch of 400", "mean of 1 − AP", "5 % positives in the data"
    )
    return canvas


@figure("balanced-batches")
def balanced_batches() -> Figure:
    target = torch.arange(20_000) < 200  # 1 %
    batches = BalancedBatches(target, positives=8, negatives=56)
    balanced = [int(target[torch.as_tensor(batch)].sum()) for batch in batches]
    order = torch.randperm(20_000, generator=torch.Generator().manual_seed(0))
    shuffled = [int(target[rows].sum()) for rows in order.split(64)]
    canvas, axes = panels(height=2.6)
    edges = np.arange(-0.5, 9.5)
    for values, name, color in (
        (shuffled, "shuffled rows", ORANGE),
        (balanced, "BalancedBatches(positives=8)", TEAL),
    ):
        share = np.histogram(values, edges)[0] / len(values)
        axes.bar(edges[:-1] + 0.5, share, 0.8, color=color, alpha=0.75, label=name)
    axes.legend(loc="upper center")
    label(axes, "positives in a batch of 64, 1 % positives in the data", "share of the batches")
    return canvas
