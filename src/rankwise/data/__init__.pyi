from rankwise.data.errors import DataError
from rankwise.data.splits import Split, folds, split
from rankwise.data.table import Table, read_columns, read_table

__all__ = ["read_table", "read_columns", "Table", "DataError", "split", "Split", "folds"]
