"""Candidates for a metric on a table, tuned alike, chosen by validation and tested once."""

from rankwise._lazy import attach

# Checked by module: evaluating scores needs no optuna.
_TABLES = ("polars", "scipy")
__getattr__, __dir__, __all__ = attach(
    __name__,
    __file__,
    {
        "candidates": (*_TABLES, "optuna"),
        "model": _TABLES,
        "pipeline": (*_TABLES, "optuna"),
        "predict": _TABLES,
        "search": (*_TABLES, "optuna"),
        "evaluate": _TABLES,
    },
)
