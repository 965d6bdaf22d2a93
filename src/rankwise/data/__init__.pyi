from rankwise.data._table_files import read_columns, read_table
from rankwise.data.errors import DataError
from rankwise.data.splits import Split, folds, split
from rankwise.data.table import Table

__all__ = ["read_table", "read_columns", "Table", "DataError", "split", "Split", "folds"]
