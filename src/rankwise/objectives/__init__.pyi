from rankwise.objectives import (
    ap,
    auc,
    contrastive,
    listwise,
    ndcg,
    operating_point,
    partial_auc,
    top,
)
from rankwise.objectives.ap import (
    SOAP,
    SOPRC,
    AveragePrecision,
    HierarchicalAP,
    PUAveragePrecision,
    StableAP,
)
from rankwise.objectives.auc import (
    PUAUC,
    CompositionalAUC,
    MinMaxAUC,
    MultiClassAUC,
    OpenAUC,
    PairwiseAUC,
)
from rankwise.objectives.base import Objective, Risk
from rankwise.objectives.classes import ClassObjective
from rankwise.objectives.contrastive import (
    EntropicRisk,
    GlobalContrastive,
    IndividualTemperatures,
    LearnedTemperature,
    two_modalities,
    two_views,
)
from rankwise.objectives.embeddings import EmbeddingScores, embedding_scores
from rankwise.objectives.fairness import FairnessConstraint
from rankwise.objectives.hierarchy import shared_levels, tree_relevance
from rankwise.objectives.listwise import ListNet
from rankwise.objectives.ndcg import NDCG
from rankwise.objectives.one_vs_rest import OneVsRest
from rankwise.objectives.operating_point import (
    FPRAtTPR,
    PrecisionAtRecall,
    RecallAtPrecision,
    TPRAtFPR,
)
from rankwise.objectives.partial_auc import PartialAUC, TwoWayPartialAUC
from rankwise.objectives.top import AUTKC, PApAtK, PrecisionAtK, RecallAtK, TopPush
from rankwise.objectives.x_risk import XRisk

__all__ = [
    "ap",
    "auc",
    "partial_auc",
    "operating_point",
    "ndcg",
    "listwise",
    "top",
    "contrastive",
    "Objective",
    "Risk",
    "ClassObjective",
    "AveragePrecision",
    "SOPRC",
    "StableAP",
    "SOAP",
    "HierarchicalAP",
    "PUAveragePrecision",
    "PairwiseAUC",
    "CompositionalAUC",
    "MinMaxAUC",
    "MultiClassAUC",
    "OpenAUC",
    "PUAUC",
    "PartialAUC",
    "TwoWayPartialAUC",
    "TPRAtFPR",
    "FPRAtTPR",
    "PrecisionAtRecall",
    "RecallAtPrecision",
    "NDCG",
    "ListNet",
    "PrecisionAtK",
    "RecallAtK",
    "TopPush",
    "PApAtK",
    "AUTKC",
    "GlobalContrastive",
    "IndividualTemperatures",
    "LearnedTemperature",
    "EntropicRisk",
    "XRisk",
    "OneVsRest",
    "FairnessConstraint",
    "embedding_scores",
    "EmbeddingScores",
    "shared_levels",
    "tree_relevance",
    "two_views",
    "two_modalities",
]
