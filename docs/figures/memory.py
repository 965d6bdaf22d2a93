"""What an objective remembers between batches, and what it would get wrong without."""

from __future__ import annotations

import math

import torch
from matplotlib.figure import Figure

from docs.figures.frame import COLORS, INK, ORANGE, TEAL, figure, label, panels
from rankwise.memory import MovingAverage, interpolate_quantiles
from rankwise.objectives import SOPRC, GlobalContrastive


@figure("moving-average")
def moving_average() -> Figure:
    """An average of noisy estimates whose mean jumps once, for three rates."""
    torch.manual_seed(0)
    truth = torch.cat([torch.full((80,), 1.0), torch.full((80,), 2.0)])
    estimates = truth + 0.35 * torch.randn(160)
    canvas, axes = panels(height=2.8)
    axes.plot(range(1, 161), estimates, ".", color=INK, markersize=4, alpha=0.7, label="estimates")
    for rate, color in zip((0.5, 0.1, 0.02), COLORS, strict=False):
        memory = MovingAverage(1, ema_rate=rate)
        ids = torch.zeros(1, dtype=torch.long)
        kept = [float(memory.update(ids, each.view(1, 1))) for each in estimates]
        axes.plot(range(1, 161), kept, color=color, label=f"ema_rate={rate}")
    axes.plot(range(1, 161), truth, color=INK, linestyle="--", linewidth=1)
    axes.legend(loc="upper left")
    label(axes, "batch", "value in the memory")
    return canvas


@figure("quantile-memory")
def quantile_memory() -> Figure:
    """The vector v of SOPRC: the quantiles of all positives, from eight in each batch."""
    torch.manual_seed(0)
    loss = SOPRC(prior=0.01, points=50, ema_rate=0.1, score_scale=1.0)
    everyone = torch.randn(100_000).sort().values * 0.8 + 1
    levels = (torch.arange(50) + 0.5) / 50
    canvas, axes = panels(height=3.0)
    weight = torch.ones(1, 8)
    first = torch.randn(1, 8) * 0.8 + 1
    axes.step(levels, interpolate_quantiles(first, weight, 50)[0], color=ORANGE, label="one batch")
    target = torch.arange(64) < 8
    for _ in range(120):
        loss(torch.cat([torch.randn(8) * 0.8 + 1, torch.randn(56)]), target)
    assert loss.vector is not None
    axes.plot(levels, loss.vector.value[0], color=TEAL, label="memory v after 120 batches")
    axes.plot(
        levels,
        everyone[(levels * 100_000).long()],
        color=INK,
        linestyle="--",
        label="all positives",
    )
    axes.legend()
    label(axes, "share of the positives below", "score", "eight positives in a batch")
    return canvas


@figure("global-denominator")
def global_denominator() -> Figure:
    """The loss of one anchor by the batch alone, and by a memory of its denominators."""
    torch.manual_seed(0)
    others, temperature = torch.randn(20_000) * 0.25, 0.1
    positive = torch.tensor([0.8])
    truth = temperature * float(
        torch.logsumexp((others - positive) / temperature, 0) - math.log(20_000)
    )
    sizes = (4, 8, 16, 32, 64, 128, 256)
    canvas, axes = panels(height=3.0)
    for ema_rate, name, color in ((None, "batch alone", ORANGE), (0.05, "GlobalContrastive", TEAL)):
        means, spreads = [], []
        for size in sizes:
            loss = GlobalContrastive(
                None if ema_rate is None else 1, temperature, ema_rate=ema_rate or 0.9
            )
            target = torch.zeros(1, size + 1)
            target[0, 0] = 1
            values = []
            for _ in range(300):
                drawn = others[torch.randint(0, 20_000, (size,))]
                scores = torch.cat([positive, drawn]).unsqueeze(0)
                values.append(
                    float(loss(scores, target, list_ids=torch.zeros(1, dtype=torch.long)))
                )
            late = torch.tensor(values[100:])
            means.append(float(late.mean()))
            spreads.append(float(late.std()))
        axes.errorbar(sizes, means, spreads, fmt="o-", color=color, capsize=2, label=name)
    axes.axhline(truth, color=INK, linestyle="--", linewidth=1, label="all 20 000 negatives")
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.legend(loc="lower right")
    label(axes, "negatives in a batch", "loss of an anchor, mean ± std")
    return canvas
