"""Who took what: interactions of users with items, read, checked and split by user."""

from rankwise.extras import require

require("rankwise.data.interactions", "polars", "scipy")

from rankwise.data.interactions.features import FeatureTable, read_features
from rankwise.data.interactions.interactions import Interactions
from rankwise.data.interactions.reader import FORMATS, read_interactions
from rankwise.data.interactions.split import Parts, split_by_user

__all__ = [
    "read_interactions",
    "FORMATS",
    "Interactions",
    "split_by_user",
    "Parts",
    "read_features",
    "FeatureTable",
]
