from rankwise.samplers.base import EpochBatches
from rankwise.samplers.batches import BalancedBatches, ClassBatches, ListBatches

__all__ = ["BalancedBatches", "ClassBatches", "EpochBatches", "ListBatches"]
