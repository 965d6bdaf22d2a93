"""One trainer for every task: steps, validation, checkpoints, resume, devices and processes."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
