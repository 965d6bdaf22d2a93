"""Rows to score, in whatever form they come, as the columns of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.errors import UsageError, foreign_errors, short_repr
from rankwise.serving.columns import Column, columns_of, is_gap
from rankwise.serving.preparation import Preparation
from rankwise.serving.rules import Learned

Floats = NDArray[np.float64]


def prepared_rows(rows: Any, preparation: Preparation, names: Sequence[str] | None) -> Floats:
    """Return rows as the numbers a model takes, (rows, prepared columns).

    Args:
        rows: A matrix, a frame, records (a list of mappings) or columns by name (a mapping).
        preparation: What every column becomes.
        names: Names of the columns in the fit; None where it had none.

    Raises:
        UsageError: A column is missing, or holds another kind of values than in the fit.
    """
    if isinstance(rows, (list, tuple)) and not rows:
        raise UsageError("rows must hold at least one row, got an empty list")
    if isinstance(rows, (list, tuple)) and isinstance(rows[0], Mapping):
        rows = _columns_of_records(rows, preparation.inputs)
    found: Any
    if isinstance(rows, Mapping):
        _require_names(rows, preparation.inputs)
        pairs = zip(preparation.inputs, preparation.columns, strict=True)
        found = [_column(name, rule, rows[name]) for name, rule in pairs]
        if len({len(column) for column in found}) > 1:
            raise UsageError("all columns must have the same number of values")
    else:
        if names is not None and hasattr(rows, "columns"):
            _require_names(rows.columns, names)
            rows = rows[list(names)]
        with foreign_errors("the rows cannot be read"):
            found = columns_of(rows)
        found = _matrix(rows, len(preparation.inputs)) if found is None else found
        if isinstance(found, list) and len(found) != len(preparation.inputs):
            raise UsageError(_shape(len(found), len(preparation.inputs)))
    with foreign_errors("the rows cannot be read"):
        return np.asarray(preparation(found), dtype=np.float64)


def _matrix(rows: Any, columns: int) -> Floats:
    if hasattr(rows, "toarray"):
        raise UsageError("rows must be a dense matrix here, got a sparse one; pass rows.toarray()")
    with foreign_errors("rows must be numbers, records or a frame"):
        found = np.asarray(rows, dtype=np.float64)
    if found.ndim != 2 or found.shape[1] != columns:
        raise UsageError(_shape(found.shape[1] if found.ndim == 2 else found.shape, columns))
    if np.isinf(found).any():
        raise UsageError("rows must not hold infinity; pass NaN for a missing value")
    return found


def _shape(got: object, columns: int) -> str:
    return f"rows must have {columns} columns, as in the fit, got {got}"


def _require_names(given: Any, names: Sequence[str]) -> None:
    there = set(map(str, given))
    if absent := [name for name in names if name not in there]:
        raise UsageError(
            f"rows have no column {short_repr(absent[0])}, which the model was fitted on; pass it, "
            "with None for a missing value"
        )


def _columns_of_records(
    records: Sequence[Mapping[str, object]], names: Sequence[str]
) -> dict[str, list[object]]:
    for record in records:
        _require_names(record, names)
    return {name: [record[name] for record in records] for name in names}


def _column(name: str, rule: Learned, values: Any) -> Column:
    """Return the values of one column as the kind that was learned."""
    kind = "category" if rule.kind == "text" else rule.kind
    said = f"column {short_repr(name)} held {kind} values in the fit and cannot be read as such"
    with foreign_errors(said):
        if kind == "number":
            plain = [np.nan if is_gap(value) else value for value in values]
            if any(isinstance(value, str) for value in plain):
                raise ValueError("it holds words")
            numbers = np.array(plain, dtype=np.float64)
            if np.isinf(numbers).any():
                raise ValueError("it holds infinity; pass None for a missing value")
            return Column(name, "number", numbers)
        if kind == "time":
            cells = np.empty((len(values), 1), dtype=object)
            cells[:, 0] = [_time(value) for value in values]
            found = columns_of(cells)
            assert found is not None
            return Column(name, found[0].kind, found[0].values)
        return Column(name, "category", list(values))


def _time(value: Any) -> Any:
    """Return a date of ISO 8601 as numpy's; others as they are."""
    return np.datetime64(value.removesuffix("Z"), "us") if isinstance(value, str) else value
