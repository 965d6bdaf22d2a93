from rankwise.objectives.partial_auc.one_way import PartialAUC
from rankwise.objectives.partial_auc.two_way import TwoWayPartialAUC

__all__ = ["PartialAUC", "TwoWayPartialAUC"]
