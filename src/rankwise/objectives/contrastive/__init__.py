"""Contrastive losses: every anchor is a list that ranks its positives above everything else."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
