from rankwise.baselines.arcface import ArcFace
from rankwise.baselines.average_precision import BlackBoxAP, FastAP, HistogramAP, SmoothAP
from rankwise.baselines.class_balanced import LDAM, ClassBalanced
from rankwise.baselines.detection import DistributionalRanking, ErrorDrivenAP
from rankwise.baselines.info_nce import InfoNCE, NTXent, SupCon
from rankwise.baselines.listwise import ApproxNDCG, LambdaLoss, ListMLE
from rankwise.baselines.metric_learning import (
    Contrastive,
    CrossBatchMemory,
    MultiSimilarity,
    Triplet,
)
from rankwise.baselines.pairwise_auc import AUCHuber, AUCSigmoid
from rankwise.baselines.pointwise import CrossEntropy, Focal
from rankwise.baselines.proxies import NormalizedSoftmax, ProxyAnchor
from rankwise.baselines.rank_sort import RankSort
from rankwise.baselines.sodeep import SoDeepAP
from rankwise.objectives.auc import MultiClassAUC, PairwiseAUC

__all__ = [
    "SmoothAP",
    "FastAP",
    "HistogramAP",
    "BlackBoxAP",
    "SoDeepAP",
    "ErrorDrivenAP",
    "RankSort",
    "DistributionalRanking",
    "PairwiseAUC",
    "AUCSigmoid",
    "AUCHuber",
    "Contrastive",
    "Triplet",
    "MultiSimilarity",
    "InfoNCE",
    "NTXent",
    "SupCon",
    "CrossBatchMemory",
    "ProxyAnchor",
    "NormalizedSoftmax",
    "ArcFace",
    "ListMLE",
    "ApproxNDCG",
    "LambdaLoss",
    "CrossEntropy",
    "ClassBalanced",
    "Focal",
    "LDAM",
    "MultiClassAUC",
]
