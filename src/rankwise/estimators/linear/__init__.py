"""A linear model, fitted to all rows at once."""

from rankwise.estimators.linear.ranker import LinearRanker

__all__ = ["LinearRanker"]
