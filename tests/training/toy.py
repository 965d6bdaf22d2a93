"""A small regression as a task: seeded by step or not, in chunks or not, on several processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from rankwise.distributed import gather_with_gradient
from rankwise.training import CachedLoss, Moment, Options, Place, Record, Stage, Task

ROWS = 24


class ToyLoss(nn.Module):
    """Mean squared error, with a parameter and a buffer of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(()))
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))

    def forward(self, found: Tensor, wanted: Tensor) -> Tensor:
        self.calls += 1
        return (found.squeeze(1) + self.shift - wanted).square().mean()


class Toy(Task[Tensor]):
    monitor = "score"
    joins_processes = True

    def __init__(
        self,
        *,
        stages: Sequence[Stage] = (Stage(6, 2),),
        size: int = 8,
        chunk: int | None = None,
        noise: float = 0.0,
        dropout: float = 0.0,
        rate: float = 0.05,
        values: Sequence[float] | None = None,
        measured: bool = True,
        seed: int | None = 0,
        options: Options | None = None,
        place: Place | None = None,
    ) -> None:
        torch.manual_seed(3)
        layers = nn.Linear(3, 5), nn.Tanh(), nn.Dropout(dropout), nn.Linear(5, 1)
        rng = torch.Generator().manual_seed(1)
        self.x, self.y = torch.randn(ROWS, 3, generator=rng), torch.randn(ROWS, generator=rng)
        self.size, self.chunk, self.noise, self.top = size, chunk, noise, rate
        self.values = None if values is None else iter(values)
        self.measured = measured
        super().__init__(
            nn.Sequential(*layers),
            ToyLoss(),
            stages,
            record=Record({"size": size, "nested": {"noise": noise}}, "abc", size),
            seed=seed,
            place=place,
            options=options,
        )

    def make_optimizer(self) -> torch.optim.Optimizer:
        learned = [*self.network.parameters(), *self.loss.parameters()]
        return torch.optim.SGD(learned, self.top, momentum=0.9)

    def rate(self, step: int) -> float:
        return self.top / (1 + step)

    def batches(self, step: int) -> Iterator[Tensor]:
        while True:
            order = np.random.default_rng(step).permutation(ROWS)
            own = self.place.rank * self.size
            yield torch.from_numpy(order[own : own + self.size])
            step += 1

    def step_loss(self, batch: Tensor, moment: Moment) -> Tensor | CachedLoss:
        x = self.x[batch] + self.noise * torch.randn(len(batch), 3)
        wanted = gather_with_gradient(self.y[batch])

        def forward(number: int, some: Tensor) -> Tensor:
            moment.start(number)
            return self.network(some)

        def loss(found: Tensor) -> Tensor:
            return self.loss(gather_with_gradient(found), wanted)

        if self.chunk is not None:
            parts = enumerate(x.split(self.chunk), 1)
            return CachedLoss([partial(forward, *part) for part in parts], loss)
        with moment.autocast():
            found = forward(1, x)
        return loss(found.float())

    def validate(self) -> dict[str, float]:
        if not self.measured:
            return {}
        if self.values is not None:
            return {"score": next(self.values)}
        found = self.network(self.x).squeeze(1)
        return {"score": -float((found - self.y).square().mean()), "mean": float(found.mean())}


def equal(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[n], other[n]) for n in one)


def flat(module: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])
