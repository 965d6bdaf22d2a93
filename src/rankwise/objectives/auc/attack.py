"""Inputs moved a little so that the ranking gets worse, and training against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from rankwise.checks import require_count, require_positive
from rankwise.objectives.auc._ball import Ball, Norm

__all__ = ["adversarial_loss", "projected_gradient_attack"]


def projected_gradient_attack(
    model: Callable[[Tensor], Tensor],
    x: Tensor,
    target: Tensor,
    loss: Callable[..., Tensor],
    *,
    radius: float,
    step: float,
    steps: int = 10,
    norm: Norm = "linf",
    random_start: bool = True,
    bounds: tuple[float, float] | None = None,
    generator: torch.Generator | None = None,
    training_mode: bool = False,
    call_arguments: Mapping[str, Any] | None = None,
) -> Tensor:
    """x + δ with ‖δ‖ ≤ radius for every item, moved so that ``loss(model(x + δ), target)`` rises.

    Projected gradient ascent (Madry et al. 2018): ``steps`` steps of length ``step`` along the sign
    of the gradient (``norm="linf"``) or its direction (``"l2"``, of each item, the first
    dimension), each followed by the way back into the ball and into ``bounds``. It starts at a
    random point of the ball, drawn with ``generator``, or at x. A ranking loss couples the items:
    all are moved at once against the same ranking. ``call_arguments`` are further
    arguments of the loss, such as ``weight`` or ``item_ids``.

    Nothing learns from it: only x gets a gradient, the loss is in evaluation mode throughout, and
    the model too, or with ``training_mode`` in the mode it is in but on copies of its buffers.
    """
    require_positive("step", step)
    require_count("steps", steps)
    ball = Ball(x.detach(), radius, norm, bounds)
    delta = ball.random(generator) if random_start else torch.zeros_like(ball.center)
    run = _on_copies_of_buffers(model) if training_mode else model
    with _evaluating(loss, *([] if training_mode else [model])), torch.enable_grad():
        for _ in range(steps):
            moved = ball.points(delta).requires_grad_()
            (gradient,) = torch.autograd.grad(
                loss(run(moved), target, **(call_arguments or {})), moved
            )
            delta = ball.inside(delta + step * ball.direction(gradient))
    return ball.points(delta)


def adversarial_loss(
    model: Callable[[Tensor], Tensor],
    x: Tensor,
    target: Tensor,
    objective: Callable[..., Tensor],
    *,
    call_arguments: Mapping[str, Any] | None = None,
    **attack: Any,
) -> Tensor:
    """min over the model of max over δ: the objective on a batch attacked by itself.

    >>> adversarial_loss(model, x, y, MinMaxAUC(), radius=8 / 255, step=2 / 255).backward()

    ``attack`` are the options of :func:`projected_gradient_attack`. The model and the objective
    learn from the attacked batch alone. With :class:`~rankwise.objectives.auc.MinMaxAUC` each item
    is attacked for itself, by a, b and α (AdAUC, Hou et al. 2022); with any other objective against
    the ranking of its batch.
    """
    attacked = projected_gradient_attack(
        model, x, target, objective, call_arguments=call_arguments, **attack
    )
    return objective(model(attacked), target, **(call_arguments or {}))


@contextmanager
def _evaluating(*parts: object) -> Iterator[None]:
    """Modules in evaluation mode, each submodule put back into its own mode afterwards."""
    modules = [m for part in parts if isinstance(part, nn.Module) for m in part.modules()]
    modes = [m.training for m in modules]
    try:
        for module in modules:
            module.training = False
        yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode


def _on_copies_of_buffers(model: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The model in its own mode; running statistics are those of copies, which are thrown away."""
    if not isinstance(model, nn.Module):
        return model

    def run(x: Tensor) -> Tensor:
        copies = {name: buffer.clone() for name, buffer in model.named_buffers()}
        scores: Tensor = functional_call(model, copies, (x,))
        return scores

    return run
