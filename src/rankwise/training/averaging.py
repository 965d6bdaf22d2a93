"""The moving average of the weights of a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """Moving average of the weights, which is what validation sees and a run keeps.

    average ← (1 − ema_rate)·average + ema_rate·weights, after every step.

    Floating-point buffers are averaged like parameters, others are copied.
    """

    def __init__(self, network: nn.Module, ema_rate: float) -> None:
        if not 0 < ema_rate <= 1:
            raise ValueError(f"ema_rate must be in (0, 1], got {ema_rate!r}")
        self.network, self.ema_rate = network, ema_rate
        self.values = {name: t.detach().clone() for name, t in network.state_dict().items()}

    @torch.no_grad()
    def update(self) -> None:
        """Move the average toward the weights as they are."""
        for name, value in self.network.state_dict().items():
            if value.is_floating_point():
                self.values[name].lerp_(value, self.ema_rate)
            else:
                self.values[name].copy_(value)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the network the average as its weights while the context lasts."""
        own = {name: t.detach().clone() for name, t in self.network.state_dict().items()}
        self.network.load_state_dict(self.values)
        try:
            yield
        finally:
            self.network.load_state_dict(own)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the average, by name."""
        return dict(self.values)

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Restore what :meth:`state_dict` returned."""
        for name, value in state.items():
            self.values[name].copy_(value)
