"""Tables from files, and their splits; images, interactions and lists of documents.

:mod:`rankwise.data.images`, :mod:`rankwise.data.detection`, :mod:`rankwise.data.interactions` and
:mod:`rankwise.data.letor` are packages of their own.
"""

from rankwise._lazy import attach

# Checked by module: reading images needs no tables.
_TABLES = ("polars", "scipy")
__getattr__, __dir__, __all__ = attach(
    __name__, __file__, splits=_TABLES, table=_TABLES, _table_files=_TABLES
)
