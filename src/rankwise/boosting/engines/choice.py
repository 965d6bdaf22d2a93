"""An engine by its name, loaded when it is used."""

from __future__ import annotations

from importlib import import_module

from rankwise.boosting.engines.base import Engine, EngineName
from rankwise.checks import require_one_of
from rankwise.extras import require

__all__ = ["engine_of"]

_HOMES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}


def engine_of(name: EngineName) -> type[Engine]:
    """The class of an engine; the package it needs is named where it is missing."""
    require_one_of("engine", name, tuple(_HOMES))
    require("rankwise.boosting", name)
    module = import_module(f"rankwise.boosting.engines.with_{name}")
    found: type[Engine] = getattr(module, _HOMES[name])
    return found
