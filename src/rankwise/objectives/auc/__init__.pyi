from rankwise.objectives.auc.attack import adversarial_loss, projected_gradient_attack
from rankwise.objectives.auc.compositional import CompositionalAUC
from rankwise.objectives.auc.compositional_training import compositional_training_loss
from rankwise.objectives.auc.minmax import MinMaxAUC
from rankwise.objectives.auc.multi_class import MultiClassAUC
from rankwise.objectives.auc.open_set import OpenAUC, open_auc
from rankwise.objectives.auc.pairwise import PairwiseAUC
from rankwise.objectives.auc.pu import PUAUC

__all__ = [
    "PairwiseAUC",
    "CompositionalAUC",
    "MinMaxAUC",
    "MultiClassAUC",
    "OpenAUC",
    "PUAUC",
    "open_auc",
    "projected_gradient_attack",
    "adversarial_loss",
    "compositional_training_loss",
]
