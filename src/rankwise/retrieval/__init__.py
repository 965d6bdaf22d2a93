"""Embeddings judged on, and searched in, a whole gallery.

from rankwise.retrieval import evaluate
print(evaluate(embeddings, labels))  # every item a query, itself left out
"""

from rankwise.retrieval.evaluation import evaluate
from rankwise.retrieval.result import RetrievalResult

__all__ = ["RetrievalResult", "evaluate"]
