"""rankwise: train models on the ranking metric they are judged by."""

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
