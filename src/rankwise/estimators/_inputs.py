"""The arguments of ``fit`` and ``predict``, checked as scikit-learn does and as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from rankwise.estimators.data import Matrix, Part, TableLike, Vector
from rankwise.estimators.preparation import Column, columns_of, learn_preparation

if TYPE_CHECKING:
    from rankwise.estimators.base import Ranker

_Labels = NDArray[np.generic]


def learn_features(
    ranker: Ranker, table: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[Matrix, _Labels, Vector | None]:
    """Return rows as the model takes them, ``y`` and the weights; the preparation is learned."""
    rows = _read(ranker, table, reset=True)
    if y is None:
        raise ValueError(
            f"{type(ranker).__name__} requires y to be passed, but the target y is None; give the "
            "target of every row"
        )
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_consistent_length(rows[0] if isinstance(rows, list) else rows, labels)
    weight = read_weight(sample_weight, labels)
    given = getattr(ranker, "feature_names_in_", range(ranker.n_features_in_))
    names = [str(name) for name in given]
    ranker.preparation_ = learn_preparation(
        rows,
        names,
        weight,
        takes_missing=ranker.takes_missing,
        takes_categories=ranker.takes_categories,
        text=read_text(ranker, names),
    )
    return ranker.preparation_(rows), labels, weight


def read_text(ranker: Ranker, names: Sequence[str]) -> frozenset[str]:
    """Return the columns of free text, which must be among the columns."""
    text = frozenset(map(str, () if ranker.text is None else ranker.text))
    if isinstance(ranker.text, str) or not text.issubset(names):
        raise ValueError(
            f"text must be a list of columns of X, got {ranker.text!r}; the columns are "
            f"{names[:20]}"
        )
    return text


def read_features(ranker: Ranker, table: TableLike) -> Matrix:
    """Return rows as a fitted ranker takes them."""
    return ranker.preparation_(_read(ranker, table, reset=False))


def read_target(
    y: ArrayLike,
    *,
    graded: bool,
    classes: _Labels | None = None,
    rows: int | None = None,
    several: bool = False,
) -> tuple[_Labels, Vector]:
    """Return the classes, and the number of the class of every row, or relevances.

    The classes are two, 0 and 1, unless ``several`` allows more.
    """
    labels: _Labels = column_or_1d(y)
    if rows is not None and len(labels) != rows:
        raise ValueError(
            f"y must have one value per row of X, got {len(labels)} values for {rows} rows"
        )
    if labels.dtype == object and any(v is None or v != v for v in labels):  # noqa: PLR0124
        raise ValueError("y must not have missing values, got some; leave out these rows")
    labels = _of_one_kind(labels)
    if graded and labels.dtype.kind in "biuf" and len(np.unique(labels)) > 2:
        values = labels.astype(np.float64)
        if not np.isfinite(values).all() or values.min() < 0:
            raise ValueError(
                f"y must hold relevances >= 0 with this objective, got {values.min()} as the least"
            )
        return np.array([0, 1]), values
    if classes is None:
        classes = _classes_of(labels, several=several)
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(
            f"y must hold only the classes {classes.tolist()}, got {unknown[:5].tolist()}"
        )
    if len(classes) > 2:
        return classes, np.searchsorted(classes, labels).astype(np.float64)
    return classes, np.asarray(labels == classes[1], dtype=np.float64)


def _of_one_kind(labels: _Labels) -> _Labels:
    """Return truth values and numbers in their own type where an array holds them as objects."""
    if labels.dtype != object or not len(labels):
        return labels
    kinds = {type(label) for label in labels.tolist()}
    if kinds <= {bool, np.bool_}:
        return labels.astype(bool)
    if all(issubclass(kind, (int, float, np.number)) for kind in kinds):
        return np.array(labels.tolist())
    if len(kinds) > 1 and not all(issubclass(kind, str) for kind in kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"y must hold labels of one type, got {names}; convert them to words")
    return labels


def _classes_of(labels: _Labels, *, several: bool) -> _Labels:
    check_classification_targets(labels)
    kind = type_of_target(labels, input_name="y", raise_unknown=True)
    classes = np.unique(labels)
    if kind != "binary" and not (several and kind == "multiclass"):
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: y has "
            f"{len(classes)} values, such as {list(classes[:5])}; make one of them the positive "
            "class (graded relevances want groups and an objective such as 'ndcg')"
        )
    if len(classes) < 2:
        raise ValueError(f"y must contain two classes, got only one class, {classes[0]}")
    return classes


def read_weight(weight: ArrayLike | None, rows: Matrix | _Labels) -> Vector | None:
    """Return one weight >= 0 per row, some of them above zero."""
    if weight is None:
        return None
    checked: Vector = _check_sample_weight(weight, rows, dtype=np.float64, ensure_non_negative=True)
    if not checked.any():
        raise ValueError("sample_weight must have values above zero, got a weight of zero for all")
    return checked


def read_groups(groups: ArrayLike | None, rows: int) -> NDArray[np.int64] | None:
    """Return list numbers 0, 1, … in the order of their ids, which may be anything that sorts."""
    if groups is None:
        return None
    ids = np.asarray(groups)
    if ids.shape != (rows,):
        raise ValueError(f"groups must have one id per row of X, {rows}, got shape {ids.shape}")
    missing = any(value is None for value in ids) if ids.dtype == object else False
    if missing or (ids.dtype.kind == "f" and np.isnan(ids).any()):
        raise ValueError("groups must not have missing values, got some; leave out these rows")
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def read_validation(
    ranker: Ranker,
    given: object,
    labels: _Labels,
    *,
    graded: bool,
    grouped: bool,
    several: bool = False,
) -> tuple[_Labels, Vector, Part]:
    """Return the classes and targets of all rows, and those of validation with a weight.

    ``given`` is ``(X, y[, groups[, sample_weight]])``, ``labels`` those of the other rows.
    """
    if not isinstance(given, tuple) or not 2 <= len(given) <= 4:
        got = f"{len(given)} values" if isinstance(given, tuple) else type(given).__name__
        raise ValueError(f"validation must be (X, y[, groups[, sample_weight]]), got {got}")
    X, y, groups, weight = (*given, None, None)[:4]
    if (groups is not None) != grouped:
        raise ValueError(
            "validation must have groups where the rows to learn from have them, and only there; "
            f"got {'groups' if groups is not None else 'none'} in validation"
        )
    rows, own = read_features(ranker, X), column_or_1d(y)
    if len(own) != rows.shape[0]:
        raise ValueError(
            f"validation must have one y per row of X, got {len(own)} for {rows.shape[0]} rows"
        )
    lists, masses = read_groups(groups, len(own)), read_weight(weight, rows)
    both = np.concatenate([labels, own])
    classes, target = read_target(both, graded=graded, several=several)
    part = Part(rows, target[len(labels) :], masses, lists, len(classes)).weighted_rows()
    if (part.target == part.target[0]).all():
        of = "both classes" if len(classes) == 2 else "several classes"
        raise ValueError(
            f"validation must hold rows of {of}, got only {own[0]!r}: nothing can be ranked there"
        )
    return classes, target, part


def _read(ranker: Ranker, table: TableLike, *, reset: bool) -> Matrix | list[Column]:
    """Return a matrix of numbers, or columns; ``reset``: scikit-learn learns names and number."""
    columns = columns_of(table)
    if columns is None:
        # A sparse matrix has to stay sparse: its missing values are not filled.
        missing = ranker.takes_missing or not issparse(table)
        matrix: Matrix = validate_data(
            ranker,
            table,
            reset=reset,
            accept_sparse="csr" if ranker.takes_sparse else False,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if missing else True,
        )
        return matrix
    # scikit-learn counts the columns of arrays; lists of words are rows to it.
    shaped = np.asarray(table, dtype=object) if isinstance(table, (list, tuple)) else table
    validate_data(ranker, shaped, reset=reset, skip_check_array=True)
    if not columns or not len(columns[0]):
        raise ValueError(
            f"X must have at least one row and one column, got {len(columns)} columns"
            + (" and no rows" if columns else "")
        )
    for column in columns:
        if column.kind == "number":
            assert_all_finite(column.values, allow_nan=True, input_name="X")
    return columns
