"""Candidates for a metric on a table, tuned alike, chosen by validation and tested once."""

from rankwise._lazy import attach

# Checked by module: evaluating scores needs no optuna.
_TABLES = ("polars", "scipy")
_NEEDS = dict.fromkeys(
    ("bounded", "drift", "fusion", "model", "scores", "slices", "systems"), _TABLES
)
_NEEDS |= dict.fromkeys(("candidates", "pipeline", "search"), (*_TABLES, "optuna"))
__getattr__, __dir__, __all__ = attach(__name__, __file__, **_NEEDS)
