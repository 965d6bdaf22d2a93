"""Tables from files as the estimators take them, and the features of a model from new files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data import _roles
from rankwise.data._columns import Wishes, as_date, decide, described
from rankwise.data._roles import read_role, read_target
from rankwise.data.disk import DiskFeatures
from rankwise.data.errors import DataError, reads
from rankwise.data.files import (
    format_of,
    read_frame,
    read_svmlight,
    require_columns,
    require_finite,
)
from rankwise.data.letor._blocks import compact, require_width, widened
from rankwise.data.reading import ColumnInfo, Kind, Reading, Rule, has_value
from rankwise.errors import short_repr
from rankwise.files import require_unchanged_table

MemoryFeatures: TypeAlias = pl.DataFrame | NDArray[np.float64] | sparse.csr_array
Features: TypeAlias = MemoryFeatures | DiskFeatures
Rows: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """A table of features with a target, read and checked by :func:`read_table`.

    Attributes:
        path: The file.
        features: A polars frame; for svmlight an array, sparse if most values are 0.
        names: Names of the features.
        kinds: Kind of every feature: ``"numeric"``, ``"categorical"``, ``"time"`` or ``"text"``.
        target: 1 for the positive class and 0 for the other, relevances, or the numbers of several
            classes.
        positive: The value of the target that became 1; None for relevances and several classes.
        groups: The list of every row, numbered from 0; None without a group column.
        time: What orders the rows; None without a time column.
        score: Scores of an existing model; None without a score column.
        dated: Whether ``time`` is microseconds since 1970, rather than any number.
        weight: Weight of every row; None without a weight column.
        formats: Rules by which the features were read; empty for plain numbers.
        columns: All columns of the file, with the kind of each.
        warnings: Warnings about columns, such as words in a column of numbers.
        file_rows: Row numbers in the file, from 0; None for all rows in order.
        without_target: Number of rows left out for a missing target.
        without_weight: Number of rows left out for a weight of 0.
        classes: The values of a target of more than two classes, in the order of their numbers.

    Example:
        >>> import tempfile
        >>> import polars as pl
        >>> from rankwise.data import read_table
        >>> path = tempfile.mkdtemp() + "/table.csv"
        >>> pl.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "y": [0, 0, 1, 1]}).write_csv(path)
        >>> table = read_table(path, target="y")
        >>> len(table), table.names, table.positives
        (4, ('x',), 2)
    """

    path: Path
    features: Features
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    target: NDArray[np.float64]
    positive: str | None = None
    groups: Rows | None = None
    time: NDArray[np.float64] | None = None
    score: NDArray[np.float64] | None = None
    dated: bool = False
    weight: NDArray[np.float64] | None = None
    formats: tuple[Rule, ...] = ()
    columns: tuple[ColumnInfo, ...] = ()
    warnings: tuple[str, ...] = ()
    file_rows: Rows | None = None
    without_target: int = 0
    without_weight: int = 0
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.target)

    @property
    def graded(self) -> bool:
        """Whether the target holds relevances rather than classes."""
        return self.positive is None and not self.classes

    @property
    def positives(self) -> int:
        """Rows of the positive class, or with any relevance."""
        return int(np.count_nonzero(self.target))

    def class_counts(self, rows: Rows) -> dict[str, int]:
        """Return the number of these rows in each of several classes."""
        counts = np.bincount(self.target[rows].astype(np.int64), minlength=len(self.classes))
        return dict(zip(self.classes, counts.tolist(), strict=True))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that are left out by themselves."""
        return tuple(column.name for column in self.columns if column.left_out is not None)

    @property
    def reading(self) -> Reading:
        """The rules by which the features are read from a file."""
        if self.formats:
            return Reading(self.formats)
        return Reading(tuple(map(Rule, self.names, self.kinds)))

    def in_file(self, rows: Rows) -> Rows:
        """Return the row numbers in the file, from 0, of some rows."""
        return np.asarray(rows if self.file_rows is None else self.file_rows[rows])

    def period(self, rows: Rows) -> str | None:
        """Return the first and the last time of some rows; None without a time column."""
        if self.time is None or not len(rows):
            return None
        ends = (self.time[rows].min(), self.time[rows].max())
        if not self.dated:
            return " to ".join(f"{end:g}" for end in ends)
        instants = np.array(ends).astype("datetime64[us]").astype("datetime64[s]")
        whole = bool((instants == instants.astype("datetime64[D]")).all())
        shown = np.datetime_as_string(instants, unit="D" if whole else "s")
        return " to ".join(shown).replace("T", " ")

    def of(self, rows: Rows) -> Features:
        """Return the features of some rows, by number."""
        taken: Features = self.features[rows]
        return taken


def table_of(path: Path, frame: pl.DataFrame, wishes: Wishes) -> Table:
    """Make the table of a frame, without the rows that have no target or no weight."""
    _require_roles(path, frame, wishes)
    target = wishes.roles["target"]
    there = has_value(frame[target]).to_numpy()
    rows, without = np.flatnonzero(there), int((~there).sum())
    if not len(rows):
        raise DataError(
            f"{path}: the target {target!r} has no value in any of {without} rows; "
            "name another column with --target"
        )
    try:
        return _of_rows(path, frame, rows, wishes)
    except DataError as error:
        if not without or not re.search(r"\brow \d", str(error)):
            raise
        raise DataError(
            f"{error} (rows are counted without the {without} that have no target)"
        ) from None


def _of_rows(path: Path, whole: pl.DataFrame, rows: NDArray[np.int64], wishes: Wishes) -> Table:
    frame, without, roles = whole[rows], len(whole) - len(rows), wishes.roles

    def of(role: str, read: Callable[[pl.Series], _roles.Read]) -> _roles.Read | None:
        return _roles.read_role(path, role, frame[roles[role]], read) if role in roles else None

    weights = of("weight", _roles.read_weights)
    if weights is not None and not weights.all():
        rows = rows[weights > 0]
        frame, weights = whole[rows], weights[weights > 0]
    read = partial(_roles.read_target, positive=wishes.positive, graded=wishes.graded)
    column = frame[roles["target"]]
    several = None
    if wishes.several and wishes.positive is None and not wishes.graded:
        several = _roles.read_role(path, "target", column, _roles.read_classes)
    labels, found = (
        _roles.read_role(path, "target", column, read) if several is None else (several[0], None)
    )
    when = partial(_roles.read_time, date_format=wishes.date_format)
    order, dated, time_format = of("time", when) or (None, False, None)
    used = {*roles.values(), *wishes.drop}
    decided = {column.name: decide(column, wishes) for column in frame if column.name not in used}
    rules = tuple(each.rule for each in decided.values() if each.rule is not None)
    if wishes.date_format not in (None, time_format, *(rule.format for rule in rules)):
        raise DataError(
            f"{path}: --date-format {wishes.date_format} reads no column; write it with strftime's "
            "letters as the dates are written, such as %d/%m/%Y for 25/01/2023"
        )
    features = Reading(rules).read(frame)
    require_finite(path, features)
    named: dict[str, tuple[str, str | None]] = {name: (role, None) for role, name in roles.items()}
    if time_format:
        named[roles["time"]] = ("time", as_date(time_format))
    columns = [
        decided[column.name].info
        if column.name in decided
        else described(column, *named.get(column.name, ("dropped", "--drop")))
        for column in frame
    ]
    return Table(
        path=path,
        features=features,
        names=tuple(features.columns),
        kinds=Reading(rules).kinds,
        target=labels,
        positive=found,
        groups=of("group", _roles.read_groups),
        time=order,
        dated=dated,
        score=of("score", _roles.read_scores),
        weight=weights,
        formats=rules,
        columns=tuple(columns),
        warnings=tuple(each.warning for each in decided.values() if each.warning is not None),
        file_rows=rows if len(rows) < len(whole) else None,
        without_target=without,
        without_weight=len(whole) - without - len(rows),
        classes=() if several is None else several[1],
    )


def _require_roles(path: Path, frame: pl.DataFrame, wishes: Wishes) -> None:
    """Raise where a requested column is not in the file, or was requested twice."""
    wanted = {"drop": wishes.drop, "use": wishes.use, "text": wishes.text}
    for role, name in wishes.roles.items():
        require_columns(path, frame.columns, [name], role)
    for option, names in wanted.items():
        require_columns(path, frame.columns, list(names), option)
        for role, name in wishes.roles.items():
            if name in names:
                drop = option == "drop"
                why = ", which is not a feature anyway" if drop else " and cannot be a feature"
                raise DataError(f"{path}: --{option} {name} is the {role} column{why}")
        if option != "drop" and (twice := sorted({*names} & {*wishes.drop})):
            raise DataError(f"{path}: --{option} {twice[0]} is in --drop as well; take one of them")
    for name in wishes.text:
        if frame[name].dtype not in (pl.String, pl.Categorical, pl.Enum):
            raise DataError(
                f"{path}: --text {name} must be a column of words, got values of type "
                f"{frame[name].dtype}"
            )


QUERY = "qid"  # what svmlight calls the list of a row


@reads("a table")
def read_table(
    path: str | Path,
    *,
    target: str | None,
    group: str | None = None,
    positive: str | None = None,
    time: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    drop: Collection[str] = (),
    use: Collection[str] = (),
    text: Collection[str] = (),
    date_format: str | None = None,
    graded: bool = False,
    several: bool = False,
) -> Table:
    """Read csv (also .tsv, .gz), parquet or svmlight/LETOR as features and a target.

    Rows without a target, or of weight 0, are left out and counted. Numbers may have thousands
    separators, currency and percent signs; dates are read by explicit formats. Ids, constants,
    words that are different in almost every row and free text are not features;
    ``Table.columns`` holds the kind of every column and why it was left out.

    Args:
        path: The file.
        target: The column to predict; svmlight has only one, so None will do there.
        group: Column of the list of a row, such as a query or a user; ``qid`` in svmlight.
        positive: The value of the target that is the positive class. Two numbers need none (the
            greater), nor do true/false and yes/no.
        time: Column that orders the rows.
        score: Column of scores of an existing model.
        weight: Column of weights of the rows.
        drop: Columns to leave out; the columns with a role are not features either.
        use: Columns that are features although they look like ids, constants or names.
        text: Columns of free text to learn from.
        date_format: The strftime format of dates that are ambiguous, such as ``%d/%m/%Y``.
        graded: Whether the target may hold relevances.
        several: Whether the target may hold more than two classes, where ``positive`` is not given.

    Returns:
        The rows with a target and a weight.

    Raises:
        DataError: The file cannot be read, or does not have what was requested.

    Example:
        >>> import tempfile
        >>> import polars as pl
        >>> from rankwise.data import read_table
        >>> rows = {"price": ["$1,200", "$90", "$15", "$7"], "id": [7, 8, 9, 10], "y": list("ynny")}
        >>> path = tempfile.mkdtemp() + "/sales.csv"
        >>> pl.DataFrame(rows).write_csv(path)
        >>> table = read_table(path, target="y", positive="y")
        >>> table.features["price"].to_list(), table.left_out
        ([1200.0, 90.0, 15.0, 7.0], ('id',))
    """
    path = Path(path)
    kind = format_of(path)
    roles = {"target": target, "group": group, "time": time, "score": score, "weight": weight}
    if kind == "svmlight":
        named = {"time": [time], "score": [score], "weight": [weight]}
        named |= {"date-format": [date_format], "drop": [*drop], "use": [*use], "text": [*text]}
        for option, names in named.items():
            if any(names):
                raise DataError(f"{path}: svmlight has no named columns, got --{option} {names[0]}")
        return _svmlight(path, target, group, positive, graded=graded, several=several)
    if target is None:
        raise DataError(f"{path}: a table of columns needs --target, the column to predict")
    if score is not None:  # of a table that rankwise predict may have written
        require_unchanged_table(path)
    given = {role: name for role, name in roles.items() if name is not None}
    wishes = Wishes(use, text, date_format, drop, positive, graded, given, several)
    return table_of(path, read_frame(path, kind, dates=False), wishes)


@reads("a table")
def read_columns(path: str | Path, reading: Reading) -> tuple[Features, tuple[str, ...]]:
    """Read the features of a model from a file as they were read in training.

    Columns are found by name, in any order. Svmlight has features by number: they are those of
    the names ``f1``, ``f2``, ….

    Args:
        path: The file.
        reading: The rules of the features: ``Table.reading`` of the training table.

    Returns:
        The features, and one remark per column with values that cannot be read as in training;
        these values are missing.

    Raises:
        DataError: The file cannot be read, or a feature is not in it.

    Example:
        >>> import tempfile
        >>> import polars as pl
        >>> from rankwise.data import read_columns, read_table
        >>> old, new = (f"{tempfile.mkdtemp()}/{name}.csv" for name in ("old", "new"))
        >>> pl.DataFrame({"a": [1, 5, 2, 8], "y": [0, 1, 0, 1]}).write_csv(old)
        >>> pl.DataFrame({"b": ["u", "v"], "a": ["3", "x"]}).write_csv(new)
        >>> features, remarks = read_columns(new, read_table(old, target="y").reading)
        >>> features["a"].to_list(), len(remarks)
        ([3.0, nan], 1)
    """
    path = Path(path)
    kind, names = format_of(path), reading.names
    if kind != "svmlight":
        frame = read_frame(path, kind, dates=False, as_text=True)
        if missing := [name for name in names if name not in frame.columns]:
            shown = ", ".join(map(short_repr, missing[:10])) + (", …" if len(missing) > 10 else "")
            raise DataError(
                f"{path}: {len(missing)} of the {len(names)} columns of the model are missing: "
                f"{shown}"
            )
        found = reading.read(frame)
        require_finite(path, found)
        return found, reading.remarks(frame)
    numbered = [int(name[1:]) for name in names if re.fullmatch(r"f\d+", name)]
    if len(numbered) < len(names):
        raise DataError(
            f"{path}: svmlight has no named columns, the model wants such as {short_repr(names[0])}"
        )
    whole = widened(path, read_svmlight(path).features, max(numbered) + 1)
    return compact(whole[:, numbered]), ()


def _svmlight(
    path: Path,
    target: str | None,
    group: str | None,
    positive: str | None,
    *,
    graded: bool,
    several: bool,
) -> Table:
    read = read_svmlight(path)
    if group not in (None, QUERY):
        raise DataError(f"{path}: svmlight knows lists by {QUERY} only, got --group {group}")
    if group == QUERY and not len(read.queries):
        raise DataError(f"{path}: --group {QUERY} was given, but no line has {QUERY}:")
    column = pl.Series(target or "target", read.target)
    classes = None
    if several and positive is None and not graded:
        classes = read_role(path, "target", column, _roles.read_classes)
    values = partial(read_target, positive=positive, graded=graded)
    labels, found = (
        read_role(path, "target", column, values) if classes is None else (classes[0], None)
    )
    first = 0 if read.features[:, [0]].nnz else 1
    features = read.features[:, first:]
    require_width(path, features)
    return Table(
        path=path,
        features=compact(features),
        names=tuple(f"f{first + place}" for place in range(features.shape[1])),
        kinds=("numeric",) * features.shape[1],
        target=labels,
        positive=found,
        groups=None if group is None else np.unique(read.queries, return_inverse=True)[1],
        classes=() if classes is None else classes[1],
    )
