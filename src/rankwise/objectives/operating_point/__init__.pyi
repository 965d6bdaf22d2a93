from rankwise.objectives.operating_point.fpr_at_tpr import FPRAtTPR
from rankwise.objectives.operating_point.precision_at_recall import PrecisionAtRecall
from rankwise.objectives.operating_point.recall_at_precision import RecallAtPrecision
from rankwise.objectives.operating_point.tpr_at_fpr import TPRAtFPR

__all__ = ["TPRAtFPR", "FPRAtTPR", "PrecisionAtRecall", "RecallAtPrecision"]
