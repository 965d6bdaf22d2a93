"""An engine by its name, loaded when it is used."""

from __future__ import annotations

from rankwise.boosting.engines.base import Engine, EngineName
from rankwise.checks import require_one_of
from rankwise.extras import require

__all__ = ["engine_of"]


def engine_of(name: EngineName) -> type[Engine]:
    """Return the class of an engine; the package it needs is named where it is missing."""
    require_one_of("engine", name, ("lightgbm", "xgboost"))
    require("rankwise.boosting", name)
    if name == "lightgbm":
        from rankwise.boosting.engines.with_lightgbm import LightGBM  # noqa: PLC0415

        return LightGBM
    from rankwise.boosting.engines.with_xgboost import XGBoost  # noqa: PLC0415

    return XGBoost
