"""Metrics of parts of a table, such as regions, each compared with the other rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.files import format_of, require_columns, scan_as_written
from rankwise.files import nan_to_none
from rankwise.metrics import Comparison, Interval, compare_independent, holm
from rankwise.naming import metric
from rankwise.report import Table
from rankwise.report.format import p_value
from rankwise.tasks.compare.metrics import Floats, Truth, is_graded

FEWEST = 10  # positives and negatives, or lists: an interval of fewer is not to be trusted
MOST = 200  # slices of one --by
MISSING = "(missing)"
JOINED = " × "
_ALPHA = 0.05


@dataclass(frozen=True)
class Slice:
    """One metric of the rows that have one value, or one combination of values."""

    by: str
    name: str
    metric: str
    rows: int
    positives: int
    lists: int | None  # that have a value; None without groups
    found: Interval
    others: Comparison  # with all other rows of the table
    adjusted: float = math.nan  # p-value, adjusted for the number of comparisons
    too_few: str | None = None  # what there is too little of to decide

    @property
    def verdict(self) -> str:
        """Whether the metric is different from that of the other rows."""
        if self.too_few is not None:
            return f"too few to decide: {self.too_few}"
        if math.isnan(self.adjusted):
            return "undecided: an interval has no width"
        if self.adjusted >= _ALPHA:
            return "no difference shown"
        return "lower than the others" if self.others.difference < 0 else "higher than the others"

    @property
    def row(self) -> dict[str, object]:
        """The numbers as a row of a table."""
        interval = {name: getattr(self.found, name) for name in ("value", "low", "high", "method")}
        both = self.others
        return {
            "by": self.by,
            "slice": self.name,
            "metric": self.metric,
            "rows": self.rows,
            "positives": self.positives,
            "lists": self.lists,
            **interval,
            "value_of_others": both.value_b,
            "difference": both.difference,
            "difference_low": both.low,
            "difference_high": both.high,
            "p_value": both.p_value,
            "adjusted_p_value": self.adjusted,
            "verdict": self.verdict,
        }


def read_slices(
    path: Path, by: Sequence[str], rows: NDArray[np.int64]
) -> dict[str, NDArray[np.str_]]:
    """Return the slice of every row for each ``--by``: a column, or several joined by commas."""
    if format_of(path) == "svmlight":
        raise DataError(f"{path}: svmlight has no named columns, got --by {by[0]}")
    source = scan_as_written(path, format_of(path))
    columns = source.collect_schema().names()
    found = {}
    for text in by:
        names = [text] if text in columns else [each.strip() for each in text.split(",")]
        names = list(dict.fromkeys(filter(None, names)))
        if not names:
            raise DataError(
                f"--by must name a column, or several separated by commas, got {text!r}"
            )
        require_columns(path, columns, names, "--by")
        frame = source.select(names).collect()[rows]
        frame = frame.with_columns(pl.selectors.float().fill_nan(None)).cast(pl.String)
        words = frame.fill_null(MISSING).with_columns(pl.col(names).replace("", MISSING))
        joined = words.select(pl.concat_str(names, separator=JOINED)).to_series()
        if (count := joined.n_unique()) > MOST:
            raise DataError(
                f"{path}: --by {text} has {count} values, at most {MOST} are compared; "
                "pass a column with fewer, such as ranges of the numbers"
            )
        found[JOINED.join(names)] = joined.to_numpy().astype(np.str_)
    return found


def evaluate_slices(
    slices: Mapping[str, NDArray[np.str_]],
    names: Sequence[str],
    scores: Floats,
    truth: Truth,
    *,
    seed: int = 0,
) -> tuple[Slice, ...]:
    """Return every metric of every slice, the worst first and those with too few rows last.

    A slice is compared with all other rows of the table. The p-values are adjusted by Holm's method
    for the number of comparisons of the whole call. With groups a list is cut into the rows of the
    slice and the others, unless all its rows have one value.
    """
    made = [
        each
        for by, words in slices.items()
        for each in _of_column(by, words, names, scores, truth, seed=seed)
    ]
    # Of two slices each is the other rows of the other: one comparison.
    sizes = {by: len(np.unique(words)) for by, words in slices.items()}
    keys = [(s.by, s.metric, s.name if sizes[s.by] > 2 else "") for s in made]
    decided = {
        key: each.others.p_value
        for key, each in zip(keys, made, strict=True)
        if each.too_few is None
    }
    adjusted = dict(zip(decided, holm(list(decided.values())), strict=True))
    found = [
        each if each.too_few else replace(each, adjusted=adjusted[key])
        for key, each in zip(keys, made, strict=True)
    ]
    order = {(by, name): n for n, (by, name) in enumerate((b, m) for b in slices for m in names)}

    def place(each: Slice) -> tuple[int, bool, float, str]:
        quality = each.found.value if metric(each.metric).higher_is_better else -each.found.value
        last = math.inf if math.isnan(quality) else quality
        return order[each.by, each.metric], each.too_few is not None, last, each.name

    return tuple(sorted(found, key=place))


def _of_column(
    by: str,
    words: NDArray[np.str_],
    names: Sequence[str],
    scores: Floats,
    truth: Truth,
    *,
    seed: int,
) -> Iterator[Slice]:
    for word in np.unique(words):
        inside = words == word
        parts = [(truth.part(rows), scores[rows]) for rows in (inside, ~inside)]
        (own, own_scores), (rest, _) = parts
        intervals = [
            part.intervals(names, its, seed=seed) if len(its) else dict.fromkeys(names, _NOTHING)
            for part, its in parts
        ]
        for name in names:
            graded = is_graded(name)
            mine, others = (each[name] for each in intervals)
            lacking = _too_few(own, graded)
            if lacking is None and (of_others := _too_few(rest, graded)) is not None:
                lacking = f"{of_others} in the other rows"
            yield Slice(
                by,
                str(word),
                name,
                len(own_scores),
                int(np.count_nonzero(own.target)),
                own.lists_with_value(graded=graded),
                mine,
                compare_independent(mine, others),
                too_few=lacking,
            )


_NOTHING = Interval(math.nan, math.nan, math.nan, 0.95, "bootstrap")


def _too_few(truth: Truth, graded: bool) -> str | None:
    """Return what there is too little of for an interval that can be trusted."""
    lists = truth.lists_with_value(graded=graded)
    positives = int(np.count_nonzero(truth.target))
    counts = {"positives": positives, "negatives": len(truth.target) - positives}
    if lists is not None:
        counts = {"lists with a value": lists}
    return next((f"{count} {what}" for what, count in counts.items() if count < FEWEST), None)


def slice_tables(slices: Sequence[Slice]) -> Iterator[tuple[str, Table]]:
    """Yield a title and a table for every metric and every column that the rows are cut by."""
    for by, name in dict.fromkeys((each.by, each.metric) for each in slices):
        rows = [_cells(each) for each in slices if (each.by, each.metric) == (by, name)]
        header = (by, "rows", "positives", "value", "95 % interval", "− others", "p", "verdict")
        yield f"{name} by {by}", Table(header, rows)


def _cells(each: Slice) -> tuple[object, ...]:
    found, gap = each.found, each.others.difference
    undefined = math.isnan(found.value)
    return (
        each.name,
        each.rows,
        each.positives,
        "–" if undefined else f"{found.value:.4f}",
        "–" if math.isnan(found.low) else f"{found.low:.4f} – {found.high:.4f}",
        "–" if math.isnan(gap) else f"{gap:+.4f}",
        p_value(each.adjusted),
        each.verdict,
    )


def slice_remark(slices: Sequence[Slice]) -> str:
    """Return how many comparisons were made and what that means for their p-values."""
    decided = [each for each in slices if each.too_few is None]
    small = len(slices) - len(decided)
    by_chance = _ALPHA * len(decided)
    words = (
        f"{len(decided)} comparisons of a slice with the other rows: of slices without a "
        f"difference, about {by_chance:.1f} would have p < {_ALPHA} by chance, so p is adjusted by "
        f"Holm's method for the number of comparisons"
    )
    if small:
        words += f"; {small} more have too few rows to decide (fewer than {FEWEST} of a kind)"
    if any(each.metric.partition("(")[0] in _OF_PRIOR for each in slices):
        words += "; metrics such as ap and precision also fall with the share of positives"
    return words


_OF_PRIOR = ("ap", "r_precision", "precision", "map@r")


def slices_json(slices: Sequence[Slice]) -> object:
    """Return the slices as a JSON file holds them."""
    return [nan_to_none(each.row) for each in slices]


def as_frame(
    metrics: Mapping[str, Interval], counts: Mapping[str, object], slices: Sequence[Slice]
) -> pl.DataFrame:
    """Return the numbers as a table: first those of all rows, then those of the slices.

    ``counts`` holds the rows, positives and lists of the whole table.
    """
    whole = [{"metric": name, **counts, **asdict(each)} for name, each in metrics.items()]
    plain = ("metric", *counts, "value", "low", "high", "method")
    columns = list(slices[0].row) if slices else plain
    rows = [*whole, *(each.row for each in slices)]
    kept = [{column: row.get(column) for column in columns} for row in rows]
    return pl.DataFrame(kept, infer_schema_length=None).with_columns(
        pl.selectors.float().fill_nan(None)
    )
