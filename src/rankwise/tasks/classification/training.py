"""The loop: steps, validations, checkpoints, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rankwise.data.images import BrokenImage
from rankwise.data.images.labelled import ClassSplits
from rankwise.tasks.classification.batches import make_sampler
from rankwise.tasks.classification.judging import judge
from rankwise.tasks.classification.learner import Learner
from rankwise.tasks.classification.network import Classifier
from rankwise.tasks.classification.settings import Settings, UsageError
from rankwise.tasks.classification.views import quick_batches
from rankwise.tasks.retrieval import training as retrieval
from rankwise.tasks.retrieval.checkpoint import fingerprint
from rankwise.tasks.retrieval.pictures import Batch, Pictures
from rankwise.tasks.retrieval.training import Step

__all__ = ["Run", "Step", "Trained", "train"]


@dataclass(frozen=True)
class Trained:
    """The network of the best validation and of the last step, and a row for every validation.

    ``start`` is the mAP of validation before the first step, NaN where there is none.
    """

    network: Classifier
    last: dict[str, torch.Tensor]
    history: list[dict[str, float]]
    best_step: int
    start: float = math.nan


class Run(retrieval.Run):
    """A run under way: retrieval's loop around a classifier; its ``map`` is over classes."""

    settings: Any
    learner: Any
    sampler: Any

    def __init__(
        self,
        splits: ClassSplits,
        settings: Settings,
        out: Path | None = None,
        *,
        device: torch.device | None = None,
        workers: int = 0,
        told: Callable[[BrokenImage], None] | None = None,
        on_step: Callable[[Step], None] = lambda step: None,
    ) -> None:
        self.settings, self.out, self.workers, self.on_step = settings, out, workers, on_step
        self.held_out = splits.validation
        self.validation = Pictures(splits.validation.images, settings.views)
        if settings.training.patience is not None and len(self.validation) == 0:
            raise UsageError(
                "training.patience needs validation images, of which there are none: raise "
                "data.validation_share, or leave patience out"
            )
        self.data = fingerprint(splits.train.images)
        self.shared = retrieval.place_of_process()
        self.pictures = Pictures(splits.train.images, settings.views, told)
        classes = len(splits.train.classes)
        self.sampler = make_sampler(
            splits.train.target, classes, settings.batches, settings.training.seed, self.shared
        )
        self.learner = Learner(
            splits.train,
            self.pictures,
            settings,
            steps_per_epoch=len(self.sampler),
            device=device,
            rank=self.shared.rank,
        )
        self.history: list[dict[str, float]] = []
        self.best: dict[str, Any] = {"step": 0, "value": -math.inf, "network": {}}
        self.start = math.nan
        self._losses: list[float] = []

    def batches(self) -> Iterator[Batch]:
        """Batches from here on, without an end."""
        return quick_batches(self.pictures, self.sampler, self.learner.done, self.workers)

    def _judged(self) -> tuple[dict[str, float], float]:
        found = judge(
            self.learner.network,
            self.held_out,
            self.settings,
            pictures=self.validation,
            workers=self.workers,
            shared=self.shared,
        )
        row = {"map": found.map, "auroc": found.mean_auroc, "top_1": found.top_1}
        return row, -math.inf if math.isnan(found.map) else found.map

    def finished(self) -> Trained:
        """The network of the best validation, and the weights of the last step."""
        network = self.learner.network
        last = retrieval.copy_of(network)
        network.load_state_dict(self.best["network"])
        return Trained(network.eval(), last, self.history, int(self.best["step"]), self.start)


def train(
    splits: ClassSplits,
    settings: Settings,
    out: Path | None = None,
    *,
    resume: bool = False,
    device: torch.device | None = None,
    workers: int = 0,
    told: Callable[[BrokenImage], None] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    loop: Callable[[Any], None] | None = None,
) -> Trained:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    A resumed run ends with the same bits as one that was never stopped. With ``out`` every
    validation leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not
    touched. ``loop`` may be Lightning's, :func:`rankwise.tasks.retrieval.lightning_loop.fit`.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        run = Run(splits, settings, out, device=device, workers=workers, told=told, on_step=on_step)
        run.through(resume=resume, loop=loop)
        return run.finished()
