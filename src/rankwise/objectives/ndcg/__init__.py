"""Normalized discounted cumulative gain as a loss, of whole lists and of the first k ranks."""

from rankwise.objectives.ndcg.ndcg import NDCG

__all__ = ["NDCG"]
