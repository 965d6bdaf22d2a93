from rankwise.objectives.ndcg.ndcg import NDCG

__all__ = ["NDCG"]
