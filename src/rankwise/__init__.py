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
        objectives,
        pairs,
        samplers,
    )
    from rankwise.objectives import embedding_scores

__version__ = "0.1.0"

__all__ = [
    "baselines",
    "distributed",
    "embedding_scores",
    "functional",
    "memory",
    "metrics",
    "objectives",
    "pairs",
    "samplers",
]


def __getattr__(name: str) -> object:
    """Load a part when it is first named: nobody waits for what they do not use."""
    if name == "embedding_scores":
        return import_module("rankwise.objectives").embedding_scores
    if name in __all__:
        return import_module(f"rankwise.{name}")
    raise AttributeError(f"module 'rankwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
