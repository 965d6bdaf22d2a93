"""Scores and probabilities of saved models, with numpy alone, and their export to ONNX."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
