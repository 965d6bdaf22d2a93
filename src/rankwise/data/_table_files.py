"""Read tables from files, and the features of a model from new files."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import numpy as np
import polars as pl

from rankwise.data._columns import Wishes
from rankwise.data._frame_table import table_of
from rankwise.data._roles import read_labels
from rankwise.data.errors import DataError, reads
from rankwise.data.files import format_of, read_frame, read_svmlight, require_finite
from rankwise.data.letor._blocks import compact, require_width, widened
from rankwise.data.reading import Reading
from rankwise.data.table import Features, Table
from rankwise.errors import short_repr
from rankwise.files import require_unchanged_table

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
    labels, positive, classes = read_labels(path, column, positive, graded=graded, several=several)
    first = 0 if read.features[:, [0]].nnz else 1
    features = read.features[:, first:]
    require_width(path, features)
    return Table(
        path=path,
        features=compact(features),
        names=tuple(f"f{first + place}" for place in range(features.shape[1])),
        kinds=("numeric",) * features.shape[1],
        target=labels,
        positive=positive,
        groups=None if group is None else np.unique(read.queries, return_inverse=True)[1],
        classes=classes,
    )
