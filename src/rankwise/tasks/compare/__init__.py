"""Contenders for a metric on a table, tuned alike, chosen by validation and tested once."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rankwise.extras import require

if TYPE_CHECKING:
    from rankwise.tasks.compare.contenders import Contender
    from rankwise.tasks.compare.model import Model, load_model
    from rankwise.tasks.compare.pipeline import Compared, Event, run
    from rankwise.tasks.compare.predicting import Predicted, predict_file
    from rankwise.tasks.compare.scores import Evaluated, evaluate_run, evaluate_scores
    from rankwise.tasks.compare.settings import Settings, seconds_of

__all__ = [
    "Compared",
    "Contender",
    "Evaluated",
    "Event",
    "Model",
    "Predicted",
    "Settings",
    "evaluate_run",
    "evaluate_scores",
    "load_model",
    "predict_file",
    "run",
    "seconds_of",
]

_HOMES = {
    "Compared": "pipeline",
    "Contender": "contenders",
    "Evaluated": "scores",
    "Event": "pipeline",
    "Model": "model",
    "Predicted": "predicting",
    "Settings": "settings",
    "evaluate_run": "scores",
    "evaluate_scores": "scores",
    "load_model": "model",
    "predict_file": "predicting",
    "run": "pipeline",
    "seconds_of": "settings",
}


def __getattr__(name: str) -> object:
    """Load a part when it is first named: who evaluates scores need not wait for optuna."""
    if name in _HOMES:
        if _HOMES[name] not in ("contenders", "settings"):
            more = ("optuna",) if _HOMES[name] == "pipeline" else ()
            require("rankwise.tasks.compare", "polars", "scipy", *more)
        return getattr(import_module(f"rankwise.tasks.compare.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rankwise.tasks.compare' has no attribute {name!r}")
