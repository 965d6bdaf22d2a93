"""Detection data sets: COCO's json and Pascal VOC's xml, read, checked and split."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, "PIL")
