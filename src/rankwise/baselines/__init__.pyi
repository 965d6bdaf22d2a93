from rankwise.baselines.approx_ndcg import ApproxNDCG
from rankwise.baselines.blackbox_ap import BlackBoxAP
from rankwise.baselines.contrastive import Contrastive
from rankwise.baselines.cross_batch_memory import CrossBatchMemory
from rankwise.baselines.cross_entropy import ClassBalanced, CrossEntropy
from rankwise.baselines.dr_loss import DistributionalRanking
from rankwise.baselines.error_driven_ap import ErrorDrivenAP
from rankwise.baselines.focal import Focal
from rankwise.baselines.histogram_ap import FastAP, HistogramAP
from rankwise.baselines.info_nce import InfoNCE, NTXent
from rankwise.baselines.lambda_loss import LambdaLoss
from rankwise.baselines.ldam import LDAM
from rankwise.baselines.list_mle import ListMLE
from rankwise.baselines.multi_similarity import MultiSimilarity
from rankwise.baselines.pairwise_auc import AUCHuber, AUCSigmoid, PairwiseAUC
from rankwise.baselines.smooth_ap import SmoothAP
from rankwise.baselines.sodeep import SoDeepAP
from rankwise.baselines.sup_con import SupCon
from rankwise.baselines.triplet import Triplet
from rankwise.objectives.auc import MultiClassAUC

__all__ = [
    "SmoothAP",
    "FastAP",
    "HistogramAP",
    "BlackBoxAP",
    "SoDeepAP",
    "ErrorDrivenAP",
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
    "ListMLE",
    "ApproxNDCG",
    "LambdaLoss",
    "CrossEntropy",
    "ClassBalanced",
    "Focal",
    "LDAM",
    "MultiClassAUC",
]
