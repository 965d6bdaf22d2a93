from rankwise.memory.average import DeferredAverage, MemoryUpdate, MovingAverage
from rankwise.memory.bank import EmbeddingBank
from rankwise.memory.fcco import FCCOAverage
from rankwise.memory.previous_model import PreviousModel
from rankwise.memory.quantiles import interpolate_quantiles

__all__ = [
    "DeferredAverage",
    "EmbeddingBank",
    "FCCOAverage",
    "MemoryUpdate",
    "MovingAverage",
    "PreviousModel",
    "interpolate_quantiles",
]
