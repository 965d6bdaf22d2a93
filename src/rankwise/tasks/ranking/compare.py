"""Paired comparison of two runs over the queries of the same judgments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from rankwise.data.letor import Qrels, Run
from rankwise.metrics import Comparison, compare_lists
from rankwise.report import Table
from rankwise.tasks.ranking.trec import TREC, judged_run


@dataclass(frozen=True)
class RunComparison:
    """One metric of two runs: the paired difference, and in how many queries each is better."""

    metric: str
    found: Comparison
    queries: int  # with a relevant document
    wins_a: int
    wins_b: int

    @property
    def equal(self) -> int:
        """Queries in which both have the same value."""
        return self.queries - self.wins_a - self.wins_b

    @property
    def plain(self) -> dict[str, object]:
        """For a file: JSON has no word for NaN."""
        numbers = {**asdict(self.found), "queries": self.queries, "wins_a": self.wins_a}
        numbers |= {"wins_b": self.wins_b, "equal": self.equal}
        return {
            name: None if isinstance(v, float) and math.isnan(v) else v
            for name, v in numbers.items()
        }


def compare_runs(
    run_a: Run,
    run_b: Run,
    qrels: Qrels,
    names: Sequence[str] = TREC,
    *,
    relevant: int = 1,
    seed: int = 0,
) -> dict[str, RunComparison]:
    """Compare two runs by every metric over the queries with a relevant document.

    A query that a run does not have counts 0 for it, as in :func:`judged_run`. The interval and
    the p-value are those of :func:`rankwise.metrics.compare_lists`.
    """
    first, second = (judged_run(run, qrels, names, relevant=relevant) for run in (run_a, run_b))
    found = {}
    for name, own in first.items():
        a, b = own.values, second[name].values
        defined = ~np.isnan(a)  # by the judgments alone, so the same for both
        difference = a[defined] - b[defined]
        # What differs by rounding alone is equal.
        larger, smaller = difference > 1e-12, difference < -1e-12
        comparison = compare_lists(a, b, seed=seed)
        wins = int(larger.sum()), int(smaller.sum())
        found[name] = RunComparison(name, comparison, int(defined.sum()), *wins)
    return found


def comparison_table(found: Mapping[str, RunComparison], name_a: str, name_b: str) -> Table:
    """One row for each metric."""
    header = ("metric", "A", "B", "A − B", "95 % interval", "p", "A/B/equal")
    rows = [
        (
            name,
            f"{each.found.value_a:.4f}",
            f"{each.found.value_b:.4f}",
            f"{each.found.difference:+.4f}",
            _interval(each.found),
            _p_value(each.found.p_value),
            f"{each.wins_a}/{each.wins_b}/{each.equal}",
        )
        for name, each in found.items()
    ]
    counts = sorted({each.queries for each in found.values()})
    queries = " or ".join(map(str, counts))
    words = (
        f"A is {name_a}, B is {name_b}. Means over the {queries} queries with a relevant document. "
        "Interval: paired bootstrap over queries; p: two-sided paired randomization test, "
        "not corrected for the number of metrics. Last column: queries in which A is better, in "
        "which B is better, and in which both are equal."
    )
    return Table(header, rows, words)


def _interval(found: Comparison) -> str:
    return "–" if math.isnan(found.low) else f"{found.low:+.4f} to {found.high:+.4f}"


def _p_value(p: float) -> str:
    if math.isnan(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
