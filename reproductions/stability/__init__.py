"""Bounded differences of the loss (StableAP) and stability of the trained model (SOPRC)."""

from reproductions.stability.study import study

__all__ = ["study"]
