"""A linear model, fitted to all rows in one batch."""

from rankwise.estimators.linear._ranker import LinearRanker

__all__ = ["LinearRanker"]
