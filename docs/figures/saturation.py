"""The outer function of average precision: where it is flat, and what the annealed gain does."""

from __future__ import annotations

from typing import Any, Literal

import torch
from matplotlib.figure import Figure
from torch import nn

from docs.figures.frame import INK, ORANGE, PURPLE, RED, TEAL, figure, label, panels
from rankwise.baselines import CrossEntropy, SupCon
from rankwise.functional import precision_loss
from rankwise.metrics import average_precision
from rankwise.objectives import SOPRC, AveragePrecision

Gain = Literal["annealed", "fixed"]


@figure("outer-functions")
def outer_functions() -> Figure:
    canvas, (left, right) = panels(2, height=2.9)
    x = torch.logspace(-2, 3, 60, dtype=torch.double, requires_grad=True)
    for power, name, color in ((1.0, "x/(1+x)  (AP)", TEAL), (0.0, "log(1+x)  (−log p)", ORANGE)):
        value = precision_loss(x, power)
        (slope,) = torch.autograd.grad(value.sum(), x)
        left.semilogx(x.detach(), value.detach(), color=color, label=name)
        right.loglog(x.detach(), slope, color=color, label=name)
    for axes in (left, right):
        axes.axvline(99, color=INK, linewidth=1, linestyle="--")
    right.minorticks_off()
    left.minorticks_off()
    left.text(90, 5.6, "untrained,\n1 % positives", ha="right", fontsize=8)
    left.legend(loc="upper left")
    label(left, "odds x of an error above a positive", "f(x)", "outer function")
    label(right, "odds x of an error above a positive", "f′(x)", "its slope")
    return canvas


@figure("gradient-by-rank")
def gradient_by_rank() -> Figure:
    """The pull on each positive of one list, by its rank, for five losses."""
    torch.manual_seed(0)
    scores = torch.randn(500, dtype=torch.double).sort(descending=True).values
    target = torch.zeros(500, dtype=torch.long)
    ranks = torch.tensor([1, 3, 8, 20, 50, 100, 180, 260, 340, 420, 490]) - 1
    target[ranks] = 1
    smooth: Any = {"false_positives": "logistic(scale=4.0)", "true_positives": "zero_one"}
    losses = {
        "AP, x/(1+x)": AveragePrecision(gain="fixed", score_scale=1.0, **smooth),
        "AP, annealed gain": AveragePrecision(gain="annealed", score_scale=1.0, **smooth),
        "−log precision": AveragePrecision(outer="log", gain="fixed", score_scale=1.0, **smooth),
        "SupCon (softmax)": SupCon(temperature=1.0),
        "cross-entropy": CrossEntropy(),
    }
    canvas, axes = panels(height=3.2)
    for (name, loss), color in zip(losses.items(), (TEAL, PURPLE, ORANGE, RED, INK), strict=True):
        x = scores.clone().requires_grad_()
        (slope,) = torch.autograd.grad(loss(x, target), x)
        pull = -slope[ranks]
        axes.loglog(ranks + 1, (pull / pull.max()).clamp_min(1e-5), "o-", color=color, label=name)
    axes.set_ylim(1e-4, 1.6)
    axes.legend(loc="lower left", ncols=2)
    label(axes, "rank of the positive in the list", "pull, largest = 1")
    return canvas


def _training(gain: Gain, steps: int) -> tuple[list[float], list[float]]:
    torch.manual_seed(0)
    x, y = torch.randn(6_000, 20), torch.rand(6_000) < 0.01
    x[y] += 0.45
    positives = y.nonzero().flatten()
    model = nn.Sequential(nn.Linear(20, 1), nn.Flatten(0))
    loss = SOPRC(prior=0.01, gain=gain)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    gains, values = [], []
    for _ in range(steps):
        rows = torch.cat(
            [positives[torch.randperm(len(positives))[:20]], torch.randint(0, 6_000, (236,))]
        )
        optimizer.zero_grad()
        loss(model(x[rows]), y[rows]).backward()
        optimizer.step()
        with torch.no_grad():
            values.append(float(average_precision(model(x), y)))
        multiplier = loss.multiplier
        gains.append(99.0 if multiplier is None else float(multiplier))
    return gains, values


@figure("annealed-gain")
def annealed_gain() -> Figure:
    canvas, (left, right) = panels(2, height=2.9)
    gains_and_colors: tuple[tuple[Gain, str], ...] = (("annealed", TEAL), ("fixed", ORANGE))
    for gain, color in gains_and_colors:
        gains, values = _training(gain, 150)
        left.semilogy(range(1, 151), gains, color=color, label=f'gain="{gain}"')
        right.plot(range(1, 151), values, color=color, label=f'gain="{gain}"')
    left.legend(loc="center right")
    label(left, "step", "gain k", "gain in the loss: σ(k · FPR/TPR)")
    label(right, "step", "average precision", "the same training, on all rows")
    return canvas
