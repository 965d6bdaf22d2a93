from rankwise.samplers.balanced import BalancedBatches
from rankwise.samplers.base import EpochBatches
from rankwise.samplers.classes import ClassBatches
from rankwise.samplers.lists import ListBatches

__all__ = ["BalancedBatches", "ClassBatches", "EpochBatches", "ListBatches"]
