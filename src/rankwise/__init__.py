"""rankwise: train models on the ranking metric they are judged by."""

from rankwise import metrics, objectives, pairs

__version__ = "0.1.0"

__all__ = ["metrics", "objectives", "pairs"]
