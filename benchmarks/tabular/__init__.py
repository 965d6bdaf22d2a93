"""Does training on the metric pay on imbalanced tables? See ``python -m benchmarks.tabular``."""
