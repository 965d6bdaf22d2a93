"""Optimizers by name, and momentum between heavy ball and Nesterov."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import torch
from torch import nn

__all__ = ["MomentumSGD", "OptimizerSettings", "make_optimizer"]


class OptimizerSettings(Protocol):
    """What :func:`make_optimizer` reads of a record of settings."""

    @property
    def name(self) -> str: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def momentum(self) -> float: ...
    @property
    def s(self) -> float: ...


class MomentumSGD(torch.optim.Optimizer):
    """buf ← β buf + g, θ ← θ − α[(1−s)·buf + s(g + β·buf)]   (StableAP, Algorithm 1).

    Args:
        parameters: Parameters to move.
        lr: Learning rate α.
        momentum: β.
        s: 0 is SGD with heavy ball, 1 with Nesterov's acceleration, between them a mixture.
        weight_decay: Multiple of the parameters that is added to their gradient g.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> from rankwise.training import MomentumSGD
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = MomentumSGD([weight], lr=0.1, momentum=0.9, s=0.0)
        >>> weight.square().sum().backward(); optimizer.step()
        >>> weight.data  # 1 - 0.1 * 2
        tensor([0.8000])

    Reference:
        StableAP, Algorithm 1.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float,
        *,
        momentum: float = 0.9,
        s: float = 1.0,
        weight_decay: float = 0.0,
    ) -> None:
        defaults = {"lr": lr, "momentum": momentum, "s": s, "weight_decay": weight_decay}
        super().__init__(parameters, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Take one step along the gradients."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            rate, beta, s = group["lr"], group["momentum"], group["s"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                gradient = parameter.grad.add(parameter, alpha=group["weight_decay"])
                state = self.state[parameter]
                if "buffer" in state:
                    state["buffer"].mul_(beta).add_(gradient)
                else:
                    state["buffer"] = gradient.clone()
                # (1−s)·buf + s(g + β·buf)
                parameter.add_(state["buffer"], alpha=-rate * (1 - s + s * beta))
                parameter.add_(gradient, alpha=-rate * s)
        return loss


def make_optimizer(
    parameters: Iterable[nn.Parameter], settings: OptimizerSettings
) -> torch.optim.Optimizer:
    """Return the optimizer of a settings section, for the parameters that require a gradient.

    Args:
        parameters: Parameters of network and loss.
        settings: ``name`` (sgd, adam or adamw), ``learning_rate``, ``weight_decay``, ``momentum``
            and ``s``.

    Returns:
        :class:`MomentumSGD`, or torch's Adam or AdamW.

    Example:
        >>> from torch import nn
        >>> from rankwise.training import make_optimizer
        >>> from types import SimpleNamespace
        >>> adam = SimpleNamespace(name="adam", learning_rate=0.01, weight_decay=0.0)
        >>> type(make_optimizer(nn.Linear(2, 1).parameters(), adam)).__name__
        'Adam'
    """
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.name == "sgd":
        return MomentumSGD(
            learning, rate, momentum=settings.momentum, s=settings.s, weight_decay=decay
        )
    kind = torch.optim.Adam if settings.name == "adam" else torch.optim.AdamW
    return kind(learning, rate, weight_decay=decay)
