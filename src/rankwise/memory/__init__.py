"""State that an objective keeps between batches, in buffers: saved, loaded, moved, resumed."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
