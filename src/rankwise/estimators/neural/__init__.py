"""A network of a few layers, trained by batches."""

from rankwise.estimators.neural.ranker import NeuralRanker

__all__ = ["NeuralRanker"]
