from rankwise import (
    baselines,
    boosting,
    data,
    distributed,
    estimators,
    functional,
    lists,
    memory,
    metrics,
    naming,
    objectives,
    pairs,
    retrieval,
    samplers,
    serving,
    text,
    theory,
    training,
    vision,
)
from rankwise.checks import no_checks
from rankwise.naming import metric, objective, register
from rankwise.objectives import embedding_scores
from rankwise.pairs.precision import single_precision

__version__: str

__all__ = [
    "baselines",
    "boosting",
    "data",
    "distributed",
    "embedding_scores",
    "estimators",
    "functional",
    "lists",
    "memory",
    "metric",
    "metrics",
    "naming",
    "objective",
    "objectives",
    "pairs",
    "register",
    "retrieval",
    "samplers",
    "serving",
    "text",
    "theory",
    "training",
    "vision",
    "no_checks",
    "single_precision",
]
