"""Learning to rank: lists of documents with features, and TREC runs and judgments."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, "polars", "scipy")
