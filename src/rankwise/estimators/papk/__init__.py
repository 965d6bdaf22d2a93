"""The solver of the pAp@k paper for the items of many users."""

from rankwise.estimators.papk.ranker import PApAtKRanker

__all__ = ["PApAtKRanker"]
