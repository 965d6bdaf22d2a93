"""Losses for the area under the ROC curve: of two classes, of several, of an open set, attacked."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
