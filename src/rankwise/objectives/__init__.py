"""Ranking metrics as losses: one call, any optimiser, any loop."""

from rankwise.objectives.ap import SOAP, SOPRC, AveragePrecision, StableAP
from rankwise.objectives.base import Objective
from rankwise.objectives.embeddings import EmbeddingScores, embedding_scores
from rankwise.objectives.one_vs_rest import OneVsRest
from rankwise.objectives.x_risk import XRisk

__all__ = [
    "Objective",
    "AveragePrecision",
    "SOPRC",
    "StableAP",
    "SOAP",
    "OneVsRest",
    "XRisk",
    "embedding_scores",
    "EmbeddingScores",
]
