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
