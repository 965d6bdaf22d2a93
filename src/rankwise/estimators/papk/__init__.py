"""pAp@k for many users: the paper's solver, its baselines, one interface."""

from rankwise.estimators.papk.baselines import (
    GreedyPApAtKRanker,
    LogisticAtKRanker,
    PartialAUCAtKRanker,
    PrecisionAtKRanker,
    SelectPApAtKRanker,
    StructuralAUCRanker,
)
from rankwise.estimators.papk.grid import ETAS, LAMS, Grid, search_grid, settings
from rankwise.estimators.papk.grouped import GroupedRanker
from rankwise.estimators.papk.ranker import DescentRanker, PApAtKRanker
from rankwise.estimators.papk.users import UserCounts, Users

__all__ = [
    "PApAtKRanker",
    "GroupedRanker",
    "DescentRanker",
    "PartialAUCAtKRanker",
    "PrecisionAtKRanker",
    "GreedyPApAtKRanker",
    "SelectPApAtKRanker",
    "LogisticAtKRanker",
    "StructuralAUCRanker",
    "search_grid",
    "settings",
    "Grid",
    "ETAS",
    "LAMS",
    "UserCounts",
    "Users",
]
