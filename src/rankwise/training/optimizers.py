"""Optimizers by name, momentum between heavy ball and Nesterov, and learning rates by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from rankwise.training.settings import Optimizer


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
        parameters: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
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


def parameter_groups(network: nn.Module, loss: nn.Module) -> list[dict[str, Any]]:
    """Return the parameters of network and loss that require a gradient, as groups by rate.

    A part of the loss with a ``rate_factor`` other than 1, such as
    :class:`~rankwise.baselines.ProxyAnchor`, has a group of its own; :func:`set_rate` multiplies
    the learning rate of that group by it.

    Args:
        network: Network that is trained.
        loss: Loss, whose parameters are trained with it.

    Returns:
        Groups for an optimizer; one unless a part of the loss has a factor.

    Example:
        >>> from torch import nn
        >>> from rankwise.baselines import ProxyAnchor
        >>> from rankwise.training import parameter_groups
        >>> loss = ProxyAnchor(num_classes=5, dimension=2)
        >>> [group["rate_factor"] for group in parameter_groups(nn.Linear(3, 2), loss)]
        [1.0, 100.0]
    """
    by_factor: dict[float, list[nn.Parameter]] = {1.0: []}
    factors = {
        parameter: float(getattr(module, "rate_factor", 1.0))
        for module in loss.modules()
        for parameter in module.parameters(recurse=False)
    }
    for parameter in [*network.parameters(), *loss.parameters()]:
        if parameter.requires_grad:
            by_factor.setdefault(factors.get(parameter, 1.0), []).append(parameter)
    if len(by_factor) == 1:
        return [{"params": by_factor[1.0]}]
    return [{"params": some, "rate_factor": factor} for factor, some in by_factor.items() if some]


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of every group, times the ``rate_factor`` of the group if it has one.

    Args:
        optimizer: Optimizer, such as that of :func:`parameter_groups`.
        rate: Learning rate.

    Example:
        >>> import torch
        >>> from rankwise.training import set_rate
        >>> slow, fast = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
        >>> groups = [{"params": [slow]}, {"params": [fast], "rate_factor": 100.0}]
        >>> optimizer = torch.optim.SGD(groups, lr=1.0)
        >>> set_rate(optimizer, 0.5)
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.5, 50.0]
    """
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("rate_factor", 1.0)


def make_optimizer(
    parameters: Iterable[nn.Parameter] | Sequence[dict[str, Any]], settings: Optimizer
) -> torch.optim.Optimizer:
    """Return the optimizer of a settings section, for the parameters that require a gradient.

    Args:
        parameters: Parameters of network and loss, or groups of them (:func:`parameter_groups`).
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
    learning: list[Any] = [
        each for each in parameters if isinstance(each, dict) or each.requires_grad
    ]
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.name == "sgd":
        return MomentumSGD(
            learning, rate, momentum=settings.momentum, s=settings.s, weight_decay=decay
        )
    kind = torch.optim.Adam if settings.name == "adam" else torch.optim.AdamW
    return kind(learning, rate, weight_decay=decay)


def milestone_rate(
    rate: float,
    step: int,
    milestones: Sequence[int] = (),
    factor: float = 0.1,
    *,
    warm_up: int = 0,
) -> float:
    """Return the rate times ``factor`` for every milestone passed, after a linear warm-up.

    Args:
        rate: Learning rate after the warm-up.
        step: Number of the step, from 0.
        milestones: Steps after which the rate is multiplied by ``factor``.
        factor: Factor of a milestone.
        warm_up: Steps over which the rate rises to ``rate``.

    Returns:
        Learning rate of the step.

    Example:
        >>> from rankwise.training import milestone_rate
        >>> [milestone_rate(1.0, step, milestones=[2], warm_up=1) for step in range(4)]
        [0.5, 1.0, 0.1, 0.1]
    """
    passed = sum(step >= milestone for milestone in milestones)
    return rate * factor**passed * min(1.0, (step + 1) / (warm_up + 1))


def cosine_rate(rate: float, step: int, steps: int) -> float:
    """Return the rate of a cosine schedule that falls to 0 over ``steps``.

    Args:
        rate: Learning rate of the first step.
        step: Number of the step, from 0.
        steps: Number of steps until the rate is 0.

    Returns:
        Learning rate of the step.

    Example:
        >>> from rankwise.training import cosine_rate
        >>> [round(cosine_rate(1.0, step, 2), 3) for step in range(3)]
        [1.0, 0.5, 0.0]
    """
    return rate * (1 + math.cos(math.pi * step / steps)) / 2
