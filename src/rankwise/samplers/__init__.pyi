from rankwise.samplers.balanced import BalancedBatches
from rankwise.samplers.classes import ClassBatches
from rankwise.samplers.lists import ListBatches

__all__ = ["BalancedBatches", "ClassBatches", "ListBatches"]
