"""The rows a caller hands in, checked as scikit-learn does and prepared for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from rankwise.estimators.preparation import Column, columns_of, learn_preparation
from rankwise.estimators.targets import read_weight

if TYPE_CHECKING:
    from rankwise.estimators.base import Ranker

__all__ = ["learn_features", "read_features"]


def learn_features(
    ranker: Ranker, table: Any, y: Any, sample_weight: Any = None
) -> tuple[Any, NDArray[Any], NDArray[np.float64] | None]:
    """Rows as the model wants them, ``y`` and the weights; the ranker learns its preparation."""
    columns = columns_of(table)
    if columns is None:
        rows, y = validate_data(ranker, table, y, **_options(ranker, table))
    else:
        if y is None:
            raise ValueError("y must be given: the target of every row, got None")
        validate_data(ranker, _shaped(table), skip_check_array=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        rows = _checked(columns)
        check_consistent_length(rows[0], y)
    weight = read_weight(sample_weight, y)
    names = getattr(ranker, "feature_names_in_", range(ranker.n_features_in_))
    ranker.preparation_ = learn_preparation(
        rows,
        [str(name) for name in names],
        weight,
        takes_missing=ranker.takes_missing,
        takes_categories=ranker.takes_categories,
        text=_text_columns(ranker, [str(name) for name in names]),
    )
    return ranker.preparation_(rows), y, weight


def read_features(ranker: Ranker, table: Any) -> Any:
    """Rows as the model wants them, of a ranker that knows its columns."""
    columns = columns_of(table)
    if columns is None:
        rows = validate_data(ranker, table, reset=False, **_options(ranker, table))
    else:
        validate_data(ranker, _shaped(table), reset=False, skip_check_array=True)
        rows = _checked(columns)
    return ranker.preparation_(rows)


def _options(ranker: Ranker, table: Any) -> dict[str, Any]:
    # Nothing fills the gaps of a sparse matrix, which would have to stay sparse.
    gaps = ranker.takes_missing or not issparse(table)
    return {
        "accept_sparse": "csr" if ranker.takes_sparse else False,
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": "allow-nan" if gaps else True,
    }


def _shaped(table: Any) -> Any:
    """What scikit-learn counts the columns of; lists of words are rows to it."""
    return np.asarray(table, dtype=object) if isinstance(table, (list, tuple)) else table


def _checked(columns: list[Column]) -> list[Column]:
    if not columns or not len(columns[0]):
        raise ValueError(
            f"X must have at least one row and one column, got {len(columns)} columns"
            + (" and no rows" if columns else "")
        )
    for column in columns:
        if column.kind == "number":
            assert_all_finite(column.values, allow_nan=True, input_name="X")
    return columns


def _text_columns(ranker: Ranker, names: list[str]) -> frozenset[str]:
    asked = ranker.text
    wanted = [] if asked is None else [str(name) for name in asked]
    unknown = [name for name in wanted if name not in names]
    if isinstance(asked, str) or unknown:
        raise ValueError(
            f"text must be a list of columns of X, got {asked!r}; the columns are {names[:20]}"
        )
    return frozenset(wanted)
