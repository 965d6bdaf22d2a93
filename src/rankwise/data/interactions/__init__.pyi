from rankwise.data.interactions._features import FeatureTable, read_features
from rankwise.data.interactions._interactions import Interactions, Parts, join_parts, split_by_user
from rankwise.data.interactions._reader import FORMATS, read_interactions

__all__ = [
    "read_interactions",
    "FORMATS",
    "Interactions",
    "join_parts",
    "split_by_user",
    "Parts",
    "read_features",
    "FeatureTable",
]
