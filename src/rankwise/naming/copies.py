"""An objective that is an object, as what makes objectives."""

from __future__ import annotations

import copy

from torch import nn


class Copies:
    """Makes copies of one objective: every training has parameters and a memory of its own."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.graded = bool(getattr(module, "graded", False))
        self.metric = getattr(module, "metric", None)
        self.__module__, self.__qualname__ = type(module).__module__, type(module).__qualname__

    def __call__(self) -> nn.Module:
        """Return a copy."""
        return copy.deepcopy(self.module)
