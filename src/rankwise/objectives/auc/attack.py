"""Adversarial attacks on a ranking, and training against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call

from rankwise.checks import require_count, require_floating, require_one_of, require_positive

Norm = Literal["linf", "l2"]


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
    """Return x + δ with ‖δ‖ ≤ radius for every item, so that ``loss(model(x + δ), target)`` rises.

    Projected gradient ascent: each step is followed by a projection into the ball and into
    ``bounds``. A ranking loss couples the items: all of them are moved together against the same
    ranking. Nothing is trained: only x gets a gradient, and the loss is in evaluation mode
    throughout.

    Args:
        model: Function or module from inputs to scores.
        x: Inputs, shape (items, …).
        target: Labels, as the loss takes them.
        loss: Objective that the attack increases.
        radius: Radius of the ball around each item.
        step: Length of a step.
        steps: Number of steps.
        norm: ``"linf"`` steps along the sign of the gradient, ``"l2"`` along its direction, item by
            item.
        random_start: Whether to start at a random point of the ball rather than at x.
        bounds: Lowest and highest value of an input, such as (0, 1) for images.
        generator: Generator of the random start.
        training_mode: Whether the model keeps the mode it is in, on copies of its buffers. By
            default it is in evaluation mode.
        call_arguments: Further arguments of the loss, such as ``weight`` or ``item_ids``.

    Returns:
        The moved inputs, of the shape of ``x``.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PairwiseAUC
        >>> from rankwise.objectives.auc import projected_gradient_attack
        >>> x, target = torch.tensor([[0.5], [0.0]]), torch.tensor([1, 0])
        >>> model = torch.nn.Flatten(0)  # the scores are the inputs
        >>> projected_gradient_attack(model, x, target, PairwiseAUC(), radius=0.1, step=0.05)
        tensor([[0.4000],
                [0.1000]])

    Reference:
        Madry et al. 2018, "Towards Deep Learning Models Resistant to Adversarial Attacks".
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
    """Compute the objective on a batch that is attacked with the same objective.

    Minimized over the model, it is the min-max problem of adversarial training. The model and the
    objective learn from the attacked batch alone. With :class:`MinMaxAUC` each item is attacked
    separately, by a, b and α (AdAUC); with any other objective, against the ranking of its batch.

    Args:
        model: Function or module from inputs to scores.
        x: Inputs, shape (items, …).
        target: Labels, as the objective takes them.
        objective: Objective that is attacked and minimized.
        call_arguments: Further arguments of the objective, such as ``weight`` or ``item_ids``.
        **attack: Options of :func:`projected_gradient_attack`: ``radius``, ``step`` and others.

    Returns:
        The loss, differentiable in the parameters of the model and of the objective.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PairwiseAUC
        >>> from rankwise.objectives.auc import adversarial_loss
        >>> x, target = torch.tensor([[0.5], [0.0]]), torch.tensor([1, 0])
        >>> model = torch.nn.Flatten(0)  # the scores are the inputs
        >>> adversarial_loss(model, x, target, PairwiseAUC(), radius=0.1, step=0.05)  # (1 − 0.3)²
        tensor(0.4900)

    Reference:
        Hou et al. 2022, "AdAUC: End-to-end Adversarial AUC Optimization Against Long-tail
        Problems".
    """
    attacked = projected_gradient_attack(
        model, x, target, objective, call_arguments=call_arguments, **attack
    )
    return objective(model(attacked), target, **(call_arguments or {}))


class Ball:
    """The points within ``radius`` of each item of ``center`` that lie in ``bounds``."""

    def __init__(
        self, center: Tensor, radius: float, norm: Norm, bounds: tuple[float, float] | None
    ) -> None:
        require_floating("x", center)
        require_positive("radius", radius)
        require_one_of("norm", norm, ("linf", "l2"))
        if norm == "l2" and center.dim() < 2:
            shape = tuple(center.shape)
            raise ValueError(f"x must have shape (items, …) for norm='l2', got {shape}")
        if bounds is not None and center.numel():
            low, high = (float(end) for end in center.aminmax())
            if not bounds[0] <= low <= high <= bounds[1]:
                raise ValueError(
                    f"bounds must hold all of x, which goes from {low} to {high}, got {bounds!r}"
                )
        self.center, self.radius, self.norm, self.bounds = center, radius, norm, bounds

    def points(self, delta: Tensor) -> Tensor:
        """Return the moved items."""
        moved = self.center + delta
        return moved if self.bounds is None else moved.clamp(*self.bounds)

    def inside(self, delta: Tensor) -> Tensor:
        """Project a displacement into the ball and the bounds."""
        if self.norm == "linf":
            delta = delta.clamp(-self.radius, self.radius)
        else:
            length = _lengths(delta)
            delta = torch.where(length > self.radius, delta * (self.radius / length), delta)
        # The center is in the box, so that cutting each coordinate never leaves the ball.
        return delta if self.bounds is None else self.points(delta) - self.center

    def direction(self, gradient: Tensor) -> Tensor:
        """Return the direction of steepest ascent, of length 1; 0 where the gradient is 0."""
        if self.norm == "linf":
            return gradient.sign()
        length = _lengths(gradient)
        return torch.where(length > 0, gradient / length, 0)

    def random(self, generator: torch.Generator | None) -> Tensor:
        """Draw a displacement uniformly from the ball."""
        like = self.center
        if self.norm == "linf":
            start = torch.empty_like(like).uniform_(-self.radius, self.radius, generator=generator)
            return self.inside(start)
        way = self.direction(torch.empty_like(like).normal_(generator=generator))
        share = torch.empty_like(_lengths(like)).uniform_(generator=generator)
        dimensions = max(1, like[:1].numel())
        return self.inside(self.radius * share ** (1 / dimensions) * way)


def _lengths(t: Tensor) -> Tensor:
    """Return the Euclidean length of every item, in a shape that broadcasts with them."""
    length: Tensor = torch.linalg.vector_norm(t.flatten(1), dim=1)
    return length.reshape(-1, *[1] * (t.dim() - 1))


@contextmanager
def _evaluating(*parts: object) -> Iterator[None]:
    """Put modules into evaluation mode, and each submodule back into its own mode afterwards."""
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
    """Return the model in its own mode, with running statistics updated on copies only."""
    if not isinstance(model, nn.Module):
        return model

    def run(x: Tensor) -> Tensor:
        copies = {name: buffer.clone() for name, buffer in model.named_buffers()}
        scores: Tensor = functional_call(model, copies, (x,))
        return scores

    return run
