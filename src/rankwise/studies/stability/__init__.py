"""Bounded differences of the loss (StableAP) and stability of the trained model (SOPRC)."""

from rankwise.studies.stability.study import study

__all__ = ["study"]
