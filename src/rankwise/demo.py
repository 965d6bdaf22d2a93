"""``make demo``: the same small network trained with cross-entropy and on average precision.

Handwritten digits (bundled with scikit-learn) ask a rare-class question: is it a nine? The
positives are thinned until they are one in forty. Both trainings have the same start, data and
optimiser, and are looked at early and late: what a metric's own loss gains is often time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy import stats
from sklearn.datasets import load_digits
from torch import Tensor, nn

from rankwise.metrics import average_precision
from rankwise.objectives import AveragePrecision

LOOKS = (200, 400, 1000)  # steps after which the test half is scored
WARM_UP, RATE, DIGIT, SPLITS = 100, 1 / 40, 9, 10

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Split:
    """Half of the digits to train on, half to test on, the rare class thinned in both."""

    x: Tensor
    y: Tensor
    x_test: Tensor
    y_test: Tensor


def rare_digits(seed: int) -> Split:
    """Digits with ``DIGIT`` as the positive class, thinned to ``RATE``."""
    pixels, label = load_digits(return_X_y=True)
    x, y = torch.tensor(pixels / 16, dtype=torch.float32), torch.tensor(label == DIGIT).float()
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    positives, negatives = order[y[order] == 1], order[y[order] == 0]
    positives = positives[: round(RATE / (1 - RATE) * len(negatives))]
    train = torch.cat([positives[::2], negatives[::2]])
    test = torch.cat([positives[1::2], negatives[1::2]])
    return Split(x[train], y[train], x[test], y[test])


def precision_at_looks(split: Split, seed: int, loss: Loss) -> list[float]:
    """Test AP at each of ``LOOKS``: ``WARM_UP`` steps of cross-entropy, the rest on ``loss``."""
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    seen = []
    for step in range(1, LOOKS[-1] + 1):
        current = nn.functional.binary_cross_entropy_with_logits if step <= WARM_UP else loss
        optimiser.zero_grad()
        current(network(split.x), split.y).backward()
        optimiser.step()
        if step in LOOKS:
            seen.append(float(average_precision(network(split.x_test), split.y_test)))
    return seen


def main() -> None:
    """Train both ways on every split and print what came out."""
    torch.set_num_threads(1)  # the network is too small to share
    console = Console()
    losses: dict[str, Loss] = {
        "cross-entropy": nn.functional.binary_cross_entropy_with_logits,
        "average precision": AveragePrecision(),
    }
    results: dict[str, list[list[float]]] = {name: [] for name in losses}
    for seed in track(range(SPLITS), description="training", console=console, transient=True):
        split = rare_digits(seed)
        for name, loss in losses.items():
            results[name].append(precision_at_looks(split, seed, loss))
    console.print(_table({name: torch.tensor(values) for name, values in results.items()}))


def _table(results: dict[str, Tensor]) -> Table:
    n = len(rare_digits(0).y_test)
    table = Table(
        title=f"Test AP: is it a {DIGIT}? scikit-learn's digits, {RATE:.1%} positive, "
        f"{n} test items, {SPLITS} splits, mean ± 95 % interval"
    )
    table.add_column("trained with")
    for look in LOOKS:
        table.add_column(f"{look} steps")
    for name, values in results.items():
        table.add_row(name, *map(_interval, values.T))
    ours, theirs = results["average precision"], results["cross-entropy"]
    table.add_section()
    table.add_row("difference, paired by split", *map(_interval, (ours - theirs).T))
    return table


def _interval(values: Tensor) -> str:
    n = len(values)
    half = float(stats.t.ppf(0.975, n - 1)) * float(values.std()) / math.sqrt(n)
    return f"{float(values.mean()):.3f} ± {half:.3f}"


if __name__ == "__main__":
    main()
