"""Losses for one operating point: a rate at the threshold that a limit on another rate sets."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
