from rankwise.objectives.contrastive.global_contrastive import GlobalContrastive
from rankwise.objectives.contrastive.individual import IndividualTemperatures
from rankwise.objectives.contrastive.views import ContrastiveLists, two_modalities, two_views

__all__ = [
    "ContrastiveLists",
    "GlobalContrastive",
    "IndividualTemperatures",
    "two_modalities",
    "two_views",
]
