from rankwise.objectives.top.autkc import AUTKC
from rankwise.objectives.top.pap_at_k import PApAtK
from rankwise.objectives.top.precision_at_k import PrecisionAtK
from rankwise.objectives.top.recall_at_k import RecallAtK
from rankwise.objectives.top.top_push import TopPush

__all__ = ["PrecisionAtK", "RecallAtK", "PApAtK", "TopPush", "AUTKC"]
