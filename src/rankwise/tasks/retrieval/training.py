"""The loop: steps, validations, checkpoints, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from rankwise.data.images import BrokenImage, RetrievalSplits
from rankwise.report import write_csv
from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.checkpoint import fingerprint, load_checkpoint, save_checkpoint
from rankwise.tasks.retrieval.gradient_cache import Backward
from rankwise.tasks.retrieval.judging import Shared, judge
from rankwise.tasks.retrieval.learner import Learner
from rankwise.tasks.retrieval.network import EmbeddingNet
from rankwise.tasks.retrieval.pictures import Batch, Pictures, batches_from
from rankwise.tasks.retrieval.settings import Settings, UsageError

__all__ = ["Run", "Step", "Trained", "copy_of", "place_of_process", "train"]


@dataclass(frozen=True)
class Step:
    """Where the training is, after every step; ``value`` is the last mAP of validation, or NaN."""

    step: int
    loss: float
    value: float


@dataclass(frozen=True)
class Trained:
    """The network of the best validation, one row for each of them, and where the best was.

    ``start`` is the value of validation before the first step, NaN where there is none; where it
    was the best, ``best_step`` is 0.
    """

    network: EmbeddingNet
    history: list[dict[str, float]]
    best_step: int
    start: float = math.nan


class Run:
    """A run under way: give it the batches it asks for until it says that it is done."""

    def __init__(
        self,
        splits: RetrievalSplits,
        settings: Settings,
        out: Path | None = None,
        *,
        device: torch.device | None = None,
        workers: int = 0,
        told: Callable[[BrokenImage], None] | None = None,
        on_step: Callable[[Step], None] = lambda step: None,
    ) -> None:
        self.settings, self.out, self.workers, self.on_step = settings, out, workers, on_step
        self.validation = Pictures(splits.validation, settings.views)
        if settings.training.patience is not None and len(self.validation) == 0:
            raise UsageError(
                "training.patience needs validation images, of which there are none: add "
                "images, set data.trainval to false, or leave patience out"
            )
        self.data = fingerprint(splits.train)
        self.shared = place_of_process()
        self.pictures = Pictures(splits.train, settings.views, told)
        self.sampler = _sampler(self.pictures, settings, self.shared)
        self.learner = Learner(self.pictures, settings, device=device, rank=self.shared.rank)
        self.history: list[dict[str, float]] = []
        self.best: dict[str, Any] = {"step": 0, "value": -math.inf, "network": {}}
        self.start = math.nan
        self._losses: list[float] = []

    @property
    def done(self) -> bool:
        """Whether all steps are done, or patience is at its end."""
        training = self.settings.training
        if self.learner.done >= training.steps:
            return True
        since = [row for row in self.history if row["step"] > self.best["step"]]
        return training.patience is not None and len(since) >= training.patience

    def batches(self) -> Iterator[Batch]:
        """Batches from here on, without an end."""
        return batches_from(self.pictures, self.sampler, self.learner.done, self.workers)

    def advance(self, batch: Batch, backward: Backward | None = None) -> None:
        """One step, and what comes after it."""
        loss = self.learner.step(batch, backward)
        self._losses.append(loss)
        step, training = self.learner.done, self.settings.training
        if step % training.validate_every == 0 or step == training.steps:
            self._validate()
        value = self.history[-1].get("map", math.nan) if self.history else math.nan
        self.on_step(Step(step, loss, value))

    def _validate(self) -> None:
        step, network = self.learner.done, self.learner.network
        row = {
            "step": step,
            "loss": sum(self._losses) / len(self._losses),
            "learning_rate": float(self.learner.optimiser.param_groups[0]["lr"]),
        }
        self._losses.clear()
        value = math.inf  # without validation the last network is the best
        if len(self.validation):
            found, value = self._judged()
            row |= found
        self.history.append(row)
        # What was trained is kept where it is as good as the start.
        first = self.best["step"] == 0 and value == self.best["value"]
        if value > self.best["value"] or first or math.isinf(value):
            self.best = {"step": step, "value": value, "network": copy_of(network)}
        if self.out is not None and self.shared.rank == 0:
            self._save(self.out)

    def measure_start(self) -> None:
        """Evaluate the network before the first step: the first to be the best."""
        if len(self.validation):
            with torch.random.fork_rng(devices=[]):
                _, self.start = self._judged()
            self.best = {"step": 0, "value": self.start, "network": copy_of(self.learner.network)}

    def _judged(self) -> tuple[dict[str, float], float]:
        """What a validation found, and the value the best network has most of."""
        found = judge(
            self.learner.network,
            self.validation,
            self.settings,
            workers=self.workers,
            shared=self.shared,
        )
        return {"map": found.map}, found.map

    def _save(self, out: Path) -> None:
        parts = {name: part.state_dict() for name, part in self.learner.parts().items()}
        state = {
            "step": self.learner.done,
            "history": self.history,
            "best": self.best,
            "start": self.start,
            **parts,
        }
        save_checkpoint(out, self.settings, self.data, state)
        write_csv(out / "metrics.csv", self.history)

    def through(self, *, resume: bool, loop: Callable[[Any], None] | None) -> None:
        """To the end, from the last checkpoint if there is one and that is wanted."""
        if not (resume and self.restore()):
            self.measure_start()
        (loop or _plain)(self)

    def restore(self) -> bool:
        """Go to where the checkpoint in the folder is; False where there is none."""
        state = None if self.out is None else load_checkpoint(self.out, self.settings, self.data)
        if state is None:
            return False
        for name, part in self.learner.parts().items():
            part.load_state_dict(state[name])
        self.learner.done, self.history, self.best = state["step"], state["history"], state["best"]
        self.start = state.get("start", math.nan)
        return True

    def result(self) -> Trained:
        """The network of the best validation."""
        network = self.learner.network
        network.load_state_dict(self.best["network"])
        return Trained(network.eval(), self.history, int(self.best["step"]), self.start)


def train(
    splits: RetrievalSplits,
    settings: Settings,
    out: Path | None = None,
    *,
    resume: bool = False,
    device: torch.device | None = None,
    workers: int = 0,
    told: Callable[[BrokenImage], None] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    loop: Callable[[Run], None] | None = None,
) -> Trained:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    A resumed run ends with the same bits as one that was never stopped. With ``out`` every
    validation leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not
    touched. ``loop`` may be Lightning's, :func:`rankwise.tasks.retrieval.lightning_loop.fit`.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        run = Run(splits, settings, out, device=device, workers=workers, told=told, on_step=on_step)
        run.through(resume=resume, loop=loop)
        return run.result()


def copy_of(network: torch.nn.Module) -> dict[str, Tensor]:
    """Return the state of a network as it is now, on the processor."""
    return {name: t.detach().cpu().clone() for name, t in network.state_dict().items()}


def _plain(run: Run) -> None:
    batches = run.batches()
    while not run.done:
        run.advance(next(batches))


def place_of_process() -> Shared:
    """Which of how many processes this is; the only one, where none were started together."""
    if dist.is_available() and dist.is_initialized():
        return Shared(dist.get_rank(), dist.get_world_size())
    return Shared()


def _sampler(pictures: Pictures, settings: Settings, shared: Shared) -> ClassBatches:
    batches, labels = settings.batches, pictures.labels
    classes = _classes(labels)
    if batches.classes > classes:
        raise UsageError(
            f"batches.classes must be at most the {classes} classes of the training images, "
            f"got {batches.classes}"
        )
    return ClassBatches(
        labels,
        batches.classes,
        batches.per_class,
        seed=settings.training.seed,
        rank=shared.rank,
        world_size=shared.world,
    )


def _classes(labels: Tensor) -> int:
    return int(labels.max()) + 1 if len(labels) else 0
