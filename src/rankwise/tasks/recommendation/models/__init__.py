"""Every model of ``--model`` by its name."""

from rankwise.tasks.recommendation.model import Model
from rankwise.tasks.recommendation.models.ease import EASE
from rankwise.tasks.recommendation.models.ials import IALS
from rankwise.tasks.recommendation.models.itemknn import ItemKNN
from rankwise.tasks.recommendation.models.lightgcn import LightGCN
from rankwise.tasks.recommendation.network import Recommender

MODELS: dict[str, type[Model]] = {
    "mf": Recommender,
    "two_tower": Recommender,
    "lightgcn": LightGCN,
    "ease": EASE,
    "ials": IALS,
    "itemknn": ItemKNN,
}
