"""``python -m benchmarks.boosted_ranking DIR [METHOD ...]``: NDCG@10 of boosted learning to rank.

DIR is the folder of the shared data sets (not part of this repository). All 251 queries of its
learning-to-rank sample are pooled: 5 folds of queries, repeated with 5 seeds. Of the queries that
are not tested, a quarter stops the training and chooses rate and leaves from one grid, the same for
all methods; the others are trained on. The tested queries count once. Each fit is kept in
``boosted_ranking.json``, so the command can be interrupted and repeated; ``--print`` prints the
tables of what is there. CatBoost needs ``make bench-peers``.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import TypedDict

import numpy as np
import torch
from benchmarks.boosted_ranking.folds import FOLDS, SEEDS, Split, load, split
from benchmarks.boosted_ranking.methods import METHODS, Fit
from benchmarks.boosted_ranking.table import tables
from benchmarks.objectives import PEERS
from benchmarks.page import write_between, write_safely

RESULTS = Path(__file__).parent.parent / "boosted_ranking.json"
LOG_LOSS, NDCG, BLEND = "ours: log-loss of y/max y", "ours: ndcg@10", "ours: ndcg@10, blend .2"
MEANS = {
    "ours: mean of log-loss and ndcg@10": (LOG_LOSS, NDCG),
    "mean of regression and log-loss": ("regression (LightGBM)", LOG_LOSS),
}
"""Means of the scores of two methods, each in units of its standard deviation."""

CHOICES = {"ours: ndcg@10, blend .2, noise by validation": (BLEND, f"{BLEND}, noise")}
"""The better one of two methods on the validation queries."""


class Kept(TypedDict):
    """One method on one fold: what was chosen, and the test NDCG@10 there."""

    setting: str
    rounds: int
    held_out: float
    by_query: dict[str, float]


def main(folder: Path, wanted: list[str]) -> None:
    torch.set_num_threads(1)
    queries, first_test = load(folder)
    results: dict[str, Kept] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    names = [*METHODS, *MEANS, *CHOICES]
    if not PEERS.exists():
        print("CatBoost YetiRank is left out: no .venv-peers; run `make bench-peers`")
        names.remove("CatBoost YetiRank")
    for seed, fold in product(range(SEEDS), range(FOLDS)):
        parts = split(queries, seed, fold)
        fits: dict[str, Fit] = {}
        for name in names:
            key = f"{name}|{seed}|{fold}"
            if key in results or (wanted and name not in wanted):
                continue
            fit = best(name, parts, fits)
            by_query = parts.test.by_query(fit.test)
            results[key] = {
                "setting": fit.setting,
                "rounds": fit.rounds,
                "held_out": round(fit.value, 5),
                "by_query": {str(query): round(v, 5) for query, v in by_query.items()},
            }
            write_safely(RESULTS, json.dumps(results, indent=None) + "\n")
            mean = float(np.mean(list(by_query.values())))
            print(f"{key}: {mean:.4f} ({fit.setting}, {fit.rounds} trees)", flush=True)
    write_between("boosted ranking", tables(results, first_test))


def best(name: str, parts: Split, known: dict[str, Fit]) -> Fit:
    """The setting of a method that is best on the validation queries; ``known`` keeps fits."""
    if name not in known:
        of = [best(one, parts, known) for one in (MEANS | CHOICES).get(name, ())]
        if name in MEANS:
            known[name] = _mean(parts, *of)
        else:
            known[name] = max(of or METHODS[name](parts), key=lambda fit: fit.value)
    return known[name]


def _mean(parts: Split, one: Fit, other: Fit) -> Fit:
    """The mean of two scores in units of the standard deviation on the validation part."""
    own, test = (
        getattr(one, part) / one.held_out.std() + getattr(other, part) / other.held_out.std()
        for part in ("held_out", "test")
    )
    return Fit(parts.held_out.value(own), one.rounds + other.rounds, "mean of both", own, test)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        kept = json.loads(RESULTS.read_text())
        print(tables(kept))
    elif len(sys.argv) < 2 or not (Path(sys.argv[1]) / "ranking").is_dir():
        sys.exit("usage: python -m benchmarks.boosted_ranking DIR [METHOD ...] | --print")
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
