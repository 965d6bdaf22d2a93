"""Evaluation and search of embeddings in a whole gallery.

>>> from rankwise.retrieval import evaluate
>>> print(evaluate(embeddings, labels))  # every item is a query, itself left out
"""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
