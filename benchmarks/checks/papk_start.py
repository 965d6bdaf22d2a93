"""Table 3 of pAp@k done as the authors' published code does it, with its own random start.

``python -m benchmarks.checks.papk_start FILE`` with MovieLens' ``u.data`` or RecBole's
``ml-100k.inter``. Factors of the rated entries alone, columns scaled by their range, weights
drawn from a normal distribution, 200 steps of at most .2/√(t+1), the iterate of the lowest
training loss kept, users with fewer than k test negatives left out. Micro-pAp@k in per cent.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from rankwise.data.interactions import read_interactions
from rankwise.estimators.data import Part
from rankwise.estimators.papk.descent import RiskGradient
from rankwise.estimators.papk.users import Users
from rankwise.objectives import PApAtK
from reproductions.papk_table3.measure import gain, with_negatives
from reproductions.papk_table3.movielens import Factors, movielens
from reproductions.papk_table3.published import KS as PLACES
from reproductions.papk_table3.published import PUBLISHED

SPLITS, KS, STEPS, RATE, RIDGE, UPDATES = 3, (8, 24), 200, 0.2, 0.1, 200

Array = NDArray[np.float64]


def of_rated(table: Array, factors: int, seed: int) -> Factors:
    """Multiplicative updates of ‖R∘(T − UVᵀ)‖² with R the entries that were rated."""
    rng = np.random.default_rng(seed)
    rated = (table > 0).astype(float)
    users, items = (rng.random((n, factors)) for n in table.shape)
    for _ in range(UPDATES):
        users *= (table @ items) / ((rated * (users @ items.T)) @ items + 1e-9)
        items *= (table.T @ users) / ((rated * (users @ items.T)).T @ users + 1e-9)
    return users, items


def descended(part: Part, start: Array, k: int) -> Array:
    """The weights of the lowest training loss on the way."""
    x, objective = torch.from_numpy(np.asarray(part.X)), PApAtK(k, "avg", score_scale=1)
    users, follow = Users.of_part(part), RiskGradient(objective)
    weights = torch.from_numpy(start.copy())
    lowest, best = float("inf"), weights
    for step in range(STEPS):
        scores = (x @ weights).unsqueeze(0)
        loss = float(users.risk(objective, scores)) + RIDGE * float(weights @ weights)
        if loss < lowest:
            lowest, best = loss, weights.clone()
        slope = follow(users, scores)[0] @ x + 2 * RIDGE * weights
        weights = weights - RATE / (step + 1) ** 0.5 * slope
    return best.numpy()


def main(path: Path) -> None:
    torch.set_num_threads(1)
    found: dict[tuple[str, int], list[float]] = {}
    for split in range(SPLITS):
        instances = movielens(read_interactions(path), split, factorize=of_rated)
        columns = instances.X
        columns -= columns.min(0)
        columns /= columns.max(0).clip(1e-12)
        drawn = instances.split(split)
        train, test = (instances.part(drawn == number) for number in (0, 2))
        rng = np.random.default_rng(split)
        start: Array = rng.standard_normal((columns.shape[1],))
        for k in KS:
            whole = test.rows(with_negatives(test, k))
            weights = {"its random start": start, "GD-pAp@k-avg": descended(train, start, k)}
            scores = {name: np.asarray(whole.X @ w) for name, w in weights.items()}
            scores["random order"] = rng.random(len(whole))
            for name, values in scores.items():
                found.setdefault((name, k), []).append(gain(whole, values, k))
    Console().print(_table(found))


def _table(found: dict[tuple[str, int], list[float]]) -> Table:
    table = Table("", *(f"k = {k}" for k in KS), title=f"{SPLITS} splits: mean (lowest to highest)")
    for name in dict.fromkeys(name for name, _ in found):
        cells = (found[name, k] for k in KS)
        words = (f"{np.mean(c):.1f} ({min(c):.1f} to {max(c):.1f})" for c in cells)
        table.add_row(name, *words)
    published = dict(zip(PLACES["Movielens"], PUBLISHED["Movielens"]["GD-pAp@k-avg"], strict=True))
    table.add_row("GD-pAp@k-avg in the paper", *(f"{published[k]}" for k in KS))
    return table


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).exists():
        sys.exit("usage: python -m benchmarks.checks.papk_start FILE; u.data or ml-100k.inter")
    main(Path(sys.argv[1]))
