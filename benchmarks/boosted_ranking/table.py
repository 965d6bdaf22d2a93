"""The tables of README.md: means, mean ranks over folds, paired differences over queries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FIRST_TEST = 201  # number of the first query of the file rank.test
RECIPE = "ours: ndcg@10, blend .2, noise by validation"
"""Ours of the comparison, fixed on folds of rank.train before any fold here was read."""

Results = Mapping[str, Mapping[str, Any]]


def tables(results: Results, first_test: int = FIRST_TEST) -> str:
    """One line for each method, over the folds that every method has, and what they say."""
    names = list(dict.fromkeys(key.split("|")[0] for key in results))
    have = [{key.split("|", 1)[1] for key in results if key.startswith(f"{n}|")} for n in names]
    folds = sorted(set.intersection(*have))
    value = np.array(
        [[np.mean([*results[f"{n}|{f}"]["by_query"].values()]) for f in folds] for n in names]
    )
    against = [place for place, name in enumerate(names) if name == RECIPE or _is_other(name)]
    ranks, among = _mean_ranks(value), dict(zip(against, _mean_ranks(value[against]), strict=True))
    queries = [_by_query(results, name, folds) for name in names]
    own = queries[names.index(RECIPE)]
    lines = [
        f"{len(folds)} of 25 folds, {len(own)} queries with a relevant document.",
        "",
        f"| method | NDCG@10 | mean rank of ours and the {len(against) - 1} others | mean rank of "
        f"all {len(names)} | {RECIPE} − it, ± 95 % over queries | the same, queries of rank.test |",
        "|---|---|---|---|---|---|",
    ]
    for place in sorted(range(len(names)), key=lambda n: (n not in among, ranks[n])):
        differences = {query: own[query] - queries[place][query] for query in own}
        late = [d for query, d in differences.items() if int(query) >= first_test]
        cells = ["", ""]
        if names[place] != RECIPE:
            cells = [interval([*differences.values()]), interval(late)]
        rank = f"{among[place]:.2f}" if place in among else ""
        mean = np.mean([*queries[place].values()])
        row = [names[place], f"{mean:.4f}", rank, f"{ranks[place]:.2f}", *cells]
        lines.append("| " + " | ".join(row) + " |")
    first = min(among, key=lambda place: float(among[place]))
    met = "met" if names[first] == RECIPE else "not met"
    lines += ["", f"First in mean rank of ours and the others: {names[first]} (goal {met})."]
    return "\n".join(lines)


def _is_other(name: str) -> bool:
    return not name.startswith(("ours", "mean of"))


def _mean_ranks(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank of each method within a fold, averaged over the folds."""
    ranks: NDArray[np.float64] = stats.rankdata(-value, axis=0).mean(axis=1)
    return ranks


def _by_query(results: Results, name: str, folds: list[str]) -> dict[str, float]:
    """NDCG@10 of every query, the mean over the seeds."""
    found: dict[str, list[float]] = {}
    for fold in folds:
        for query, value in results[f"{name}|{fold}"]["by_query"].items():
            found.setdefault(query, []).append(value)
    return {query: float(np.mean(values)) for query, values in found.items()}


def interval(values: list[float]) -> str:
    """Mean and 95 % t-interval."""
    n = len(values)
    error = float(np.std(values, ddof=1)) / math.sqrt(n)
    return f"{np.mean(values):+.4f} ± {stats.t.ppf(0.975, n - 1) * error:.4f}"
