"""Changes between two tables of scores: their distribution and, with labels, their metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import chi2, ks_2samp

from rankwise.data import DataError, read_table
from rankwise.files import nan_to_none
from rankwise.metrics import Interval, compare_independent, population_stability_index
from rankwise.metrics.drift import bin_edges
from rankwise.metrics.intervals import normal_quantile
from rankwise.report import Table
from rankwise.report.format import p_value
from rankwise.tasks.compare import metrics as measures
from rankwise.tasks.compare.metrics import Floats, Truth
from rankwise.tasks.compare.score_file import read_scores, trained_on, training_warning

BINS = 10
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LEVEL = 0.95


@dataclass(frozen=True)
class Change:
    """One number before and after, with the interval of its difference, after − before."""

    what: str
    before: float
    after: float
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class DriftResult:
    """What has changed between two tables of scores."""

    before: Path
    after: Path
    rows: tuple[int, int]
    ks_distance: float
    ks_p_value: float
    psi: float
    psi_by_chance: float  # what it exceeds in 5 % of the cases without any change
    changes: tuple[Change, ...]
    trained_on: tuple[int | None, int | None] = (None, None)  # rows, where the files mark them

    @property
    def warnings(self) -> list[str]:
        """Why the numbers of a table are too good, if the model was trained on some rows."""
        ends = zip((self.before, self.after), self.trained_on, self.rows, strict=True)
        found = [(path, training_warning(count, rows)) for path, count, rows in ends]
        return [f"{path}: {words}" for path, words in found if words is not None]

    @property
    def verdict(self) -> str:
        """Whether the distribution of the scores has changed, in words."""
        p = p_value(self.ks_p_value)
        shown = f"p {p}" if p.startswith("<") else f"p = {p}"
        moved = "have changed" if self.ks_p_value < 1 - _LEVEL else "show no change"
        return (
            f"The scores {moved}: Kolmogorov–Smirnov distance {self.ks_distance:.4f}, {shown}; "
            f"PSI {self.psi:.4f}, by chance up to {self.psi_by_chance:.4f} in 95 % of cases "
            f"({self.rows[0]} and {self.rows[1]} rows)"
        )

    @property
    def table(self) -> Table:
        """One row for each number that is compared."""
        header = ("", "before", "after", "change", "95 % interval", "p")
        caption = "p is two-sided and not adjusted for the number of rows of this table."
        return Table(header, [_cells(each) for each in self.changes], caption)

    def as_json(self) -> dict[str, object]:
        """Return the content of a JSON file; what is not defined is null."""
        return {
            "before": str(self.before),
            "after": str(self.after),
            "rows_before": self.rows[0],
            "rows_after": self.rows[1],
            "rows_trained_on_before": self.trained_on[0],
            "rows_trained_on_after": self.trained_on[1],
            "ks_distance": self.ks_distance,
            "ks_p_value": self.ks_p_value,
            "psi": self.psi,
            "psi_by_chance": self.psi_by_chance,
            "changes": [nan_to_none(asdict(each)) for each in self.changes],
        }

    def as_frame(self) -> pl.DataFrame:
        """Return the changes as a table, with the two distances first."""
        distances = [
            {"what": "ks", "difference": self.ks_distance, "p_value": self.ks_p_value},
            {"what": "psi", "difference": self.psi},
        ]
        rows = [*distances, *(asdict(each) for each in self.changes)]
        columns = list(asdict(self.changes[0]))
        kept = [{name: row.get(name) for name in columns} for row in rows]
        made = pl.DataFrame(kept, infer_schema_length=None)
        return made.with_columns(pl.selectors.float().fill_nan(None))


def measure_drift(
    before: Path,
    after: Path,
    *,
    score: str = "score",
    target: str | None = None,
    group: str | None = None,
    positive: str | None = None,
    thresholds: Sequence[float] = (),
    metrics: Sequence[str] | None = None,
    seed: int = 0,
) -> DriftResult:
    """Compare the scores of two tables, whose rows are different ones.

    With a target that both tables have, the share of positives and the metrics are compared, too:
    those named, or the first two that suit the data. Intervals of differences are made of those of
    both tables (:func:`rankwise.metrics.compare_independent`).

    Args:
        before, after: Tables with scores.
        score: Column of the scores.
        target, group, positive: Columns and class as for :func:`evaluate_scores`.
        thresholds: Scores from which on rows count as above; the 95 % quantile of ``before`` if
            none are given.
        metrics: Names of metrics; they need a target.
        seed: Seed of the bootstrap.
    """
    if target is None and (metrics or group is not None or positive is not None):
        raise DataError("metrics need labels: name the target column of both files with --target")
    for threshold in thresholds:
        if not math.isfinite(threshold):
            raise DataError(f"--threshold must be a finite score, got {threshold:g}")
    paths = (before, after)
    truths: list[Truth] = []
    if target is None:
        scores = [read_scores(path, key=(), score=score)[score].to_numpy() for path in paths]
        for path, own in zip(paths, scores, strict=True):
            if not len(own):
                raise DataError(f"{path}: is empty: a header and no rows")
    else:
        named = [measures.resolve_metric(name, grouped=group is not None) for name in metrics or ()]
        graded = bool(named) and all(map(measures.is_graded, named))
        tables = [
            read_table(
                path, target=target, score=score, group=group, positive=positive, graded=graded
            )
            for path in paths
        ]
        if tables[0].positive != tables[1].positive:
            raise DataError(
                f"the positive class is {tables[0].positive!r} in {before} and "
                f"{tables[1].positive!r} in {after}; name one with --positive"
            )
        scores = [each.score for each in tables if each.score is not None]
        truths = [Truth(each.target, each.groups) for each in tables]
        few = min(map(len, tables))
        suited = measures.every_metric(few, grouped=group is not None, graded=tables[0].graded)
        names = named or suited[:2]
    ks = ks_2samp(*scores)
    sizes = (len(scores[0]), len(scores[1]))
    # One degree of freedom less than bins (Yurdakul 2018): as many as there are edges.
    freedom = max(1, len(bin_edges(scores[0], BINS)))
    by_chance = float(chi2.ppf(_LEVEL, freedom)) * (1 / sizes[0] + 1 / sizes[1])
    changes = [*_of_scores(scores, thresholds)]
    if truths:
        changes += _of_labels(truths, scores, names, seed)
    return DriftResult(
        before,
        after,
        sizes,
        float(ks.statistic),
        float(ks.pvalue),
        population_stability_index(scores[0], scores[1], bins=BINS),
        by_chance,
        tuple(changes),
        (trained_on(before), trained_on(after)),
    )


def _of_scores(scores: Sequence[Floats], thresholds: Sequence[float]) -> Iterator[Change]:
    for share in QUANTILES:
        ends = [_quantile(np.sort(each), share) for each in scores]
        yield _change(f"{share:.0%} quantile", *ends)
    asked = {f"share from {t:g} on": t for t in thresholds}
    if not asked:
        high = float(np.quantile(scores[0], 0.95, method="inverted_cdf"))
        asked = {f"share from {high:.4g} on": high}
    for what, threshold in asked.items():
        yield _change(what, *(_share(int((s >= threshold).sum()), len(s)) for s in scores))


def _of_labels(
    truths: Sequence[Truth], scores: Sequence[Floats], names: Sequence[str], seed: int
) -> Iterator[Change]:
    positives = [int(np.count_nonzero(each.target)) for each in truths]
    shares = [_share(n, len(t.target)) for n, t in zip(positives, truths, strict=True)]
    yield _change("share of positives", *shares)
    both = [
        truth.intervals(names, own, seed=seed) for truth, own in zip(truths, scores, strict=True)
    ]
    for name in names:
        yield _change(name, both[0][name], both[1][name])


def _change(what: str, before: Interval, after: Interval) -> Change:
    found = compare_independent(after, before)
    ends = found.difference, found.low, found.high
    return Change(what, before.value, after.value, *ends, found.p_value)


def _share(count: int, total: int) -> Interval:
    """Return a share with Wilson's interval."""
    z, value = normal_quantile(_LEVEL), count / total
    center = (value + z**2 / (2 * total)) / (1 + z**2 / total)
    spread = math.sqrt(value * (1 - value) / total + z**2 / (4 * total**2))
    reach = z * spread / (1 + z**2 / total)
    low, high = min(value, center - reach), max(value, center + reach)
    return Interval(value, low, high, _LEVEL, "wilson")


def _quantile(ordered: Floats, share: float) -> Interval:
    """Return a quantile with the interval between two order statistics, NaN with too few rows."""
    total = len(ordered)
    reach = normal_quantile(_LEVEL) * math.sqrt(total * share * (1 - share))
    first, last = round(total * share - reach), round(total * share + reach + 1)
    inside = first >= 1 and last <= total  # else no score is far enough from the quantile
    low, high = (ordered[first - 1], ordered[last - 1]) if inside else (math.nan, math.nan)
    value = float(np.quantile(ordered, share, method="inverted_cdf"))
    return Interval(value, float(low), float(high), _LEVEL, "order statistics")


def _cells(each: Change) -> tuple[object, ...]:
    values = (f"{each.before:.4f}", f"{each.after:.4f}", f"{each.difference:+.4f}")
    interval = "–" if math.isnan(each.low) else f"{each.low:+.4f} to {each.high:+.4f}"
    return (each.what, *values, interval, p_value(each.p_value))
