"""Contrastive training of an image network without labels, evaluated by its features."""

from rankwise._lazy import attach

# Checked before the pipeline is imported: no training ends without its report.
__getattr__, __dir__, __all__ = attach(__name__, __file__, pipeline=("matplotlib", "safetensors"))
