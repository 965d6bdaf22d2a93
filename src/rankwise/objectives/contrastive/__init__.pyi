from rankwise.objectives.contrastive.entropic import EntropicRisk
from rankwise.objectives.contrastive.global_contrastive import GlobalContrastive
from rankwise.objectives.contrastive.individual import IndividualTemperatures
from rankwise.objectives.contrastive.learned import LearnedTemperature
from rankwise.objectives.contrastive.views import ContrastiveLists, two_modalities, two_views

__all__ = [
    "ContrastiveLists",
    "EntropicRisk",
    "GlobalContrastive",
    "IndividualTemperatures",
    "LearnedTemperature",
    "two_modalities",
    "two_views",
]
