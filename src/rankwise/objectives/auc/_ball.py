"""The ball around each item of a batch that an attack stays in."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_floating, require_one_of, require_positive

Norm = Literal["linf", "l2"]


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
