from rankwise.memory.average import DeferredAverage, MemoryUpdate, MovingAverage
from rankwise.memory.bank import EmbeddingBank
from rankwise.memory.fcco import FCCOAverage
from rankwise.memory.mirror import MirrorAverage
from rankwise.memory.pooling import AttentionPooling, SmoothMaxPooling
from rankwise.memory.previous_model import PreviousModel
from rankwise.memory.quantiles import interpolate_quantiles
from rankwise.memory.ratio import RatioAverage
from rankwise.memory.schedule import cosine_ema_rate, set_ema_rate

__all__ = [
    "AttentionPooling",
    "DeferredAverage",
    "EmbeddingBank",
    "FCCOAverage",
    "MemoryUpdate",
    "MirrorAverage",
    "MovingAverage",
    "PreviousModel",
    "RatioAverage",
    "SmoothMaxPooling",
    "cosine_ema_rate",
    "interpolate_quantiles",
    "set_ema_rate",
]
