from rankwise.objectives.ap.batch_ap import AveragePrecision
from rankwise.objectives.ap.hierarchical import HierarchicalAP
from rankwise.objectives.ap.pu import PUAveragePrecision
from rankwise.objectives.ap.soap import SOAP
from rankwise.objectives.ap.soprc import SOPRC
from rankwise.objectives.ap.stable_ap import StableAP

__all__ = [
    "AveragePrecision",
    "SOPRC",
    "StableAP",
    "SOAP",
    "HierarchicalAP",
    "PUAveragePrecision",
]
