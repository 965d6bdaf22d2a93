"""The results as tables: means, ranks, paired differences."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["Results", "against", "interval", "outcome", "table"]

Floats = NDArray[np.float64]
Results = dict[str, dict[str, list[float]]]
"""Set → loss → the metric on the test part, one number per seed."""


def against(loss: str) -> str:
    """The log-loss that a loss is compared with: that of its own engine."""
    return "XGBoost log-loss" if "xgboost" in loss.lower() else "log-loss"


def interval(values: Floats) -> tuple[float, float]:
    """Mean and half of the width of its 95 % interval."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()), float(stats.t.ppf(0.975, len(values) - 1)) * error


def outcome(values: Floats) -> str:
    """Whether the interval of the paired difference leaves out zero, and on which side."""
    mean, half = interval(values)
    return "win" if mean > half else "loss" if -mean > half else "tie"


def table(results: Results, sizes: dict[str, list[float]], what: str) -> str:
    """Means and ranks, and below them the differences to log-loss."""
    sets = list(results)
    losses = [name for name in results[sets[0]] if all(name in results[s] for s in sets)]
    heads = [f"{s} ({sizes[s][0]:,.0f}, {sizes[s][1]:.1%})" for s in sets]
    counts = [len(results[s][losses[0]]) for s in sets]
    seeds = " to ".join(map(str, sorted({min(counts), max(counts)})))
    lines = [
        f"| test {what}, mean of {seeds} seeds | " + " | ".join(heads) + " | mean | mean rank |",
        "|---" * (len(sets) + 3) + "|",
    ]
    means = np.array([[np.mean(results[s][loss]) for s in sets] for loss in losses])
    ranks = stats.rankdata(-means.round(4), axis=0).mean(axis=1)
    for loss, row, rank in zip(losses, means, ranks, strict=True):
        cells = " | ".join(f"{value:.3f}" for value in row)
        lines.append(f"| {loss} | {cells} | {row.mean():.4f} | {rank:.1f} |")
    lines += [
        "",
        "| paired difference, ± 95 % | " + " | ".join(sets) + " | mean of sets | win–tie–loss |",
        "|---" * (len(sets) + 3) + "|",
    ]
    for loss in losses:
        base = against(loss)
        if loss == base:
            continue
        each = [np.subtract(results[s][loss], results[s][base]) for s in sets]
        cells = " | ".join("{:+.3f} ± {:.3f}".format(*interval(d)) for d in each)
        whole = "{:+.4f} ± {:.4f}".format(*interval(np.array([d.mean() for d in each])))
        ends = [outcome(d) for d in each]
        score = "–".join(str(ends.count(end)) for end in ("win", "tie", "loss"))
        lines.append(f"| {loss} − {base} | {cells} | {whole} | {score} |")
    return "\n".join(lines)
