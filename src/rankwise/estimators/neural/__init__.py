"""A multilayer perceptron, trained by batches."""

from rankwise.estimators.neural._ranker import NeuralRanker

__all__ = ["NeuralRanker"]
