"""The rows a caller hands in, as one matrix: numbers, and whole numbers for categories."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

if TYPE_CHECKING:
    from rankwise.estimators.base import Ranker

__all__ = ["learn_features", "read_features"]

_CATEGORIES = ("category", "categorical", "enum", "str", "object")
_TIMES = ("date", "time", "duration", "period", "interval")


def learn_features(ranker: Ranker, table: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    """Rows as the model wants them and ``y`` as an array; the ranker learns what columns it has."""
    ranker.categories_ = {}
    table, words = _parted(table)
    if not words:
        rows, y = validate_data(ranker, table, y, **_options(ranker))
        return rows, y
    _require_categories(ranker, words)
    if y is None:
        raise ValueError("y must be given: the target of every row, got None")
    validate_data(ranker, table, skip_check_array=True)
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_consistent_length(table, y)
    ranker.categories_ = {place: _categories(column) for place, column in words.items()}
    return _coded(ranker, table, words), y


def read_features(ranker: Ranker, table: Any) -> Any:
    """Rows as the model wants them, of a ranker that knows its columns."""
    table, words = _parted(table)
    if not words and not ranker.categories_:
        return validate_data(ranker, table, reset=False, **_options(ranker))
    _require_categories(ranker, words)
    validate_data(ranker, table, reset=False, skip_check_array=True)
    surprising = sorted(set(words) - set(ranker.categories_))
    if surprising:
        raise ValueError(
            f"column {_name(table, surprising[0])!r} of X held numbers in fit, now it holds words"
        )
    return _coded(ranker, table, words)


def _options(ranker: Ranker) -> dict[str, Any]:
    return {
        "accept_sparse": "csr" if ranker.takes_sparse else False,
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": "allow-nan" if ranker.takes_missing else True,
    }


def _parted(table: Any) -> tuple[Any, dict[int, NDArray[Any]]]:
    """A table, and its columns of categories or strings by their place, if it is a data frame.

    A column of Python objects that are all numbers or gaps (as pandas makes of ``[1, pd.NA]``)
    comes back as one of numbers.
    """
    if not (hasattr(table, "columns") and hasattr(table, "dtypes")):
        return table, {}
    names, kinds = list(table.columns), [str(kind).lower() for kind in table.dtypes]
    if len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise ValueError(f"the columns of X must have different names, got {twice} more than once")
    found, numbers = {}, {}
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if kind.startswith(_CATEGORIES):
            column = np.asarray(table[name], dtype=object)
            if kind == "object" and _are_numbers(column):
                numbers[name] = np.where(_missing(column), np.nan, column).astype(float)
            else:
                found[place] = column
        elif kind.startswith(_TIMES):
            raise ValueError(
                f"column {name!r} of X holds times or spans ({kind}); turn it into numbers"
            )
    if numbers and hasattr(table, "copy"):
        table = table.copy()
        for name, column in numbers.items():
            table[name] = column
    return table, found


def _are_numbers(column: NDArray[Any]) -> bool:
    gaps = _missing(column)
    return all(isinstance(value, (Real, np.bool_)) for value in column[~gaps])


def _require_categories(ranker: Ranker, words: dict[int, NDArray[Any]]) -> None:
    if words and not ranker.takes_categories:
        raise ValueError(
            f"X must hold numbers, got words in column {min(words)}: {type(ranker).__name__} takes "
            "no categories; encode them before, or use NeuralRanker or BoostedRanker"
        )


def _name(table: Any, place: int) -> str:
    return str(list(table.columns)[place])


def _column(table: Any, place: int) -> Any:
    named = hasattr(table, "columns")
    return table[list(table.columns)[place]] if named else np.asarray(table)[:, place]


def _missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([value is None or _is_gap(value) for value in column], dtype=bool)


def _is_gap(value: Any) -> bool:
    try:
        return bool(value != value)  # noqa: PLR0124  (NaN)
    except TypeError:  # pandas' NA is neither equal nor different
        return True


def _categories(column: NDArray[Any]) -> NDArray[Any]:
    """The different values of a column as sorted words, without those that are missing."""
    return np.unique(column[~_missing(column)].astype(str))


def _coded(ranker: Ranker, table: Any, words: dict[int, NDArray[Any]]) -> NDArray[np.float64]:
    """All the columns as numbers; a category that is missing or was never seen is NaN."""
    rows = np.empty((len(table), ranker.n_features_in_))
    for place in range(ranker.n_features_in_):
        if place in ranker.categories_:
            column = words.get(place)
            if column is None:  # the words of fit came as numbers, or as a plain array
                column = np.asarray(_column(table, place), dtype=object)
            rows[:, place] = _codes(column, ranker.categories_[place])
        else:
            rows[:, place] = np.asarray(_column(table, place), dtype=float)
    numbers = [place for place in range(rows.shape[1]) if place not in ranker.categories_]
    allowed = "allow-nan" if ranker.takes_missing else True
    if numbers:
        check_array(rows[:, numbers], ensure_all_finite=allowed, input_name="X")
    return rows


def _codes(column: NDArray[Any], categories: NDArray[Any]) -> NDArray[np.float64]:
    codes = np.full(len(column), np.nan)
    there = ~_missing(column)
    if len(categories) and there.any():
        values = column[there].astype(str)
        place = np.searchsorted(categories, values).clip(max=len(categories) - 1)
        codes[there] = np.where(categories[place] == values, place, np.nan)
    return codes
