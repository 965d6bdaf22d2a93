"""Objectives and metrics by name: the string of a config, an estimator, the command line."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
