"""Text retrieval and reranking with sentence-transformers: losses, hard negatives, evaluation.

>>> from rankwise.text import BiEncoderLoss, TextCollection
>>> train = TextCollection(queries, documents, qrels)
>>> loss = BiEncoderLoss(encoder, AveragePrecision(outer="log"), collection=train)
"""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, "sentence_transformers")
