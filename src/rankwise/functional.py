"""Stateless functions: sums over pairs, lists split by label, and the formulas of the objectives.

For those who write an objective of their own, or want a number without a module.
"""

from rankwise.lists import Lists, split_lists
from rankwise.memory.quantiles import interpolate_quantiles
from rankwise.objectives.ap.formulas import (
    false_positive_rate,
    precision_loss,
    saturating,
    semi_variance,
    stable_weights,
    true_positive_rate,
)
from rankwise.objectives.embeddings import embedding_scores
from rankwise.pairs import pair_curvature, pair_logsumexp, pair_sum

__all__ = [
    "pair_sum",
    "pair_logsumexp",
    "pair_curvature",
    "Lists",
    "split_lists",
    "embedding_scores",
    "false_positive_rate",
    "true_positive_rate",
    "saturating",
    "precision_loss",
    "semi_variance",
    "stable_weights",
    "interpolate_quantiles",
]
