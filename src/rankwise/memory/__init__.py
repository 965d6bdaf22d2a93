"""What an objective remembers between batches. Buffers, always: saved, loaded, moved, resumed."""

from rankwise.memory.average import MovingAverage, require_ids
from rankwise.memory.bank import EmbeddingBank
from rankwise.memory.followed import FollowedAverage
from rankwise.memory.previous_model import PreviousModel
from rankwise.memory.quantiles import interpolate_quantiles

__all__ = [
    "EmbeddingBank",
    "FollowedAverage",
    "MovingAverage",
    "PreviousModel",
    "interpolate_quantiles",
    "require_ids",
]
