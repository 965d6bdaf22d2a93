"""Objectives and gathered tensors across the processes of a distributed training."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
