"""A multilayer perceptron, trained by batches."""
