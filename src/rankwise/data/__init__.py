"""Tables from files, and the parts they are cut into; pictures, interactions, lists of documents.

:mod:`rankwise.data.images`, :mod:`rankwise.data.interactions` and :mod:`rankwise.data.letor` are
folders of their own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rankwise.extras import require

if TYPE_CHECKING:
    from rankwise.data.division import FOLDS, Split, few, folds, split
    from rankwise.data.errors import DataError
    from rankwise.data.reader import read_columns, read_table
    from rankwise.data.table import Features, Table

__all__ = [
    "read_table",
    "read_columns",
    "Table",
    "Features",
    "DataError",
    "split",
    "Split",
    "folds",
    "FOLDS",
    "few",
]

_HOMES = {
    "read_table": "reader",
    "read_columns": "reader",
    "Table": "table",
    "Features": "table",
    "DataError": "errors",
    "split": "division",
    "Split": "division",
    "folds": "division",
    "FOLDS": "division",
    "few": "division",
}


def __getattr__(name: str) -> object:
    """Load a reader when it is first named: who reads pictures needs no tables."""
    if name in _HOMES:
        if name != "DataError":
            require("rankwise.data", "polars", "scipy")
        return getattr(import_module(f"rankwise.data.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rankwise.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
