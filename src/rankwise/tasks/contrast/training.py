"""The loop: two views of every image, one loss, a checkpoint after every epoch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from rankwise.objectives.contrastive import two_views
from rankwise.report import write_csv
from rankwise.tasks.contrast.augmentation import make_views
from rankwise.tasks.contrast.checkpoint import load_checkpoint, save_checkpoint
from rankwise.tasks.contrast.data import Images
from rankwise.tasks.contrast.network import ContrastNet
from rankwise.tasks.contrast.settings import Settings, UsageError

__all__ = ["Step", "Trained", "new_network", "steps_per_epoch", "train"]


@dataclass(frozen=True)
class Step:
    """Where the training is, after every step; both count from 1."""

    epoch: int
    step: int
    loss: float


@dataclass(frozen=True)
class Trained:
    """The network, and one row for every epoch."""

    network: ContrastNet
    history: list[dict[str, float]]


def new_network(images: Images, settings: Settings) -> ContrastNet:
    """The network before training; leaves torch's own generator seeded."""
    torch.manual_seed(settings.seed)
    network = ContrastNet(settings.width, settings.dimension)
    network.standardise(images.x_train)
    return network


def steps_per_epoch(images: Images, settings: Settings) -> int:
    """Whole batches only: the last few images of a shuffled epoch wait for the next."""
    steps = len(images.x_train) // settings.batch
    if steps == 0:
        raise UsageError(
            f"batch must be at most the {len(images.x_train)} training images, got {settings.batch}"
        )
    return steps


def train(
    images: Images,
    settings: Settings,
    out: Path | None = None,
    *,
    resume: bool = False,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Trained:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    A resumed run ends with the same bits as one that was never stopped. With ``out`` every epoch
    leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not touched.
    """
    steps_per_epoch(images, settings)
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        run = _Run(images, settings)
        if out is not None and resume:
            run.restore(out)
        while len(run.history) < settings.epochs:
            run.epoch(on_step)
            if out is not None:
                run.save(out)
        return Trained(run.network, run.history)


class _Run:
    def __init__(self, images: Images, settings: Settings) -> None:
        self.images, self.settings = images, settings
        self.network = new_network(images, settings)
        self.loss = settings.loss(len(images.x_train))
        self.optimiser = _optimiser(self.network, settings)
        self.views = make_views(*images.x_train.shape[2:])
        self.history: list[dict[str, float]] = []
        self.data = images.fingerprint()

    def restore(self, out: Path) -> None:
        state = load_checkpoint(out, self.settings, self.data)
        if state is None:
            return
        for name, part in self._parts().items():
            part.load_state_dict(state[name])
        self.history = state["history"]
        torch.set_rng_state(state["generator"])
        write_csv(out / "metrics.csv", self.history)

    def save(self, out: Path) -> None:
        save_checkpoint(out, self.settings, self.data, self.history, self._parts())
        write_csv(out / "metrics.csv", self.history)

    def epoch(self, on_step: Callable[[Step], None]) -> None:
        self.network.train()
        steps = steps_per_epoch(self.images, self.settings)
        done = len(self.history) * steps
        rate, total = 0.0, 0.0
        order = torch.randperm(len(self.images.x_train))
        for step in range(steps):
            rows = order[step * self.settings.batch : (step + 1) * self.settings.batch]
            rate = _cosine(self.settings.learning_rate, done + step, self.settings.epochs * steps)
            loss = self.step(rows, rate)
            total += loss
            on_step(Step(len(self.history) + 1, step + 1, loss))
        self.history.append(
            {"epoch": len(self.history) + 1, "loss": total / steps, "learning_rate": rate}
        )

    def step(self, rows: Tensor, rate: float) -> float:
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        first, second = self.network(self.views(self.images.x_train[rows])).chunk(2)
        loss: Tensor = self.loss(**two_views(first, second, rows)._asdict())
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def _parts(self) -> dict[str, nn.Module | torch.optim.Optimizer]:
        return {"network": self.network, "loss": self.loss, "optimiser": self.optimiser}


def _optimiser(network: ContrastNet, settings: Settings) -> torch.optim.Optimizer:
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.optimiser == "sgd":
        return torch.optim.SGD(network.parameters(), rate, momentum=0.9, weight_decay=decay)
    return torch.optim.AdamW(network.parameters(), rate, weight_decay=decay)


def _cosine(rate: float, step: int, steps: int) -> float:
    return rate * (1 + math.cos(math.pi * step / steps)) / 2
