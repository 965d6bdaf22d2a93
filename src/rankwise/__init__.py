"""rankwise: train models on the ranking metric they are judged by."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankwise import (
        baselines,
        distributed,
        functional,
        memory,
        metrics,
        naming,
        objectives,
        pairs,
        samplers,
    )
    from rankwise.checks import unchecked
    from rankwise.naming import metric, objective
    from rankwise.objectives import embedding_scores

__version__ = "0.1.0"

__all__ = [
    "baselines",
    "distributed",
    "embedding_scores",
    "functional",
    "memory",
    "metric",
    "metrics",
    "naming",
    "objective",
    "objectives",
    "pairs",
    "samplers",
    "unchecked",
]

_FUNCTIONS = {
    "embedding_scores": "objectives",
    "metric": "naming",
    "objective": "naming",
    "unchecked": "checks",
}


def __getattr__(name: str) -> object:
    """Load a part when it is first named: nobody waits for what they do not use."""
    if name in _FUNCTIONS:
        return getattr(import_module(f"rankwise.{_FUNCTIONS[name]}"), name)
    if name in __all__:
        return import_module(f"rankwise.{name}")
    raise AttributeError(f"module 'rankwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
