"""Losses for the top of the list: precision, recall and partial AUC of the first k."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
