"""The loop: steps, validations, checkpoints."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rankwise.data.detection import DetectionSet, DetectionSplits
from rankwise.data.images import BrokenImage
from rankwise.report import write_csv
from rankwise.tasks.detection.batches import Batch, Pictures, training_batches
from rankwise.tasks.detection.evaluation import detect_all, evaluate
from rankwise.tasks.detection.finding import Detections
from rankwise.tasks.detection.frozen import KeptMaps, can_keep
from rankwise.tasks.detection.learner import Learner
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.retrieval.checkpoint import load_checkpoint, save_checkpoint
from rankwise.tasks.retrieval.training import copy_of

__all__ = ["Step", "Trained", "fingerprint", "train"]


@dataclass(frozen=True)
class Step:
    """Where the training is, after every step; ``value`` is the last AP of validation, or NaN."""

    step: int
    loss: float
    value: float


@dataclass(frozen=True)
class Trained:
    """The network of the best validation, one row for each of them, and where the best was."""

    network: Detector
    history: list[dict[str, float]]
    best_step: int  # 0: the detector before training
    best_value: float
    found: list[Detections]  # in the validation pictures
    start: float = math.nan  # AP of validation before training


def train(
    splits: DetectionSplits,
    settings: Settings,
    out: Path | None = None,
    *,
    resume: bool = False,
    device: torch.device | None = None,
    workers: int = 0,
    told: Callable[[BrokenImage], None] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    kept: dict[Any, Any] | None = None,
) -> Trained:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    A resumed run ends with the same bits as one that was never stopped. With ``out`` every
    validation leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not
    touched. Runs on the same pictures that are given one dictionary
    ``kept`` share what a frozen backbone sees in them.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        run = _Run(splits, settings, out, device, {} if kept is None else kept)
        if not (resume and run.restore()):
            run.measure_start()
        size, done = settings.training.batch, run.learner.done
        pictures = Pictures(splits.train, settings.views, settings.training.seed, told)
        network = run.learner.network
        if can_keep(network, settings.views):
            batches = KeptMaps(pictures, network, run.kept).batches(size, done)
        else:
            batches = training_batches(pictures, size, done, workers)
        while run.learner.done < settings.training.steps:
            on_step(run.advance(next(batches)))
        return run.result()


class _Run:
    """A run under way."""

    def __init__(
        self,
        splits: DetectionSplits,
        settings: Settings,
        out: Path | None,
        device: torch.device | None,
        kept: dict[Any, Any],
    ) -> None:
        self.kept = kept
        self.validation, self.settings, self.out = splits.validation, settings, out
        self.data = fingerprint(splits.train)
        self.learner = Learner(settings, len(splits.train.classes), device=device)
        self.history: list[dict[str, float]] = []
        self.best: dict[str, Any] = {"step": 0, "value": -math.inf, "network": {}}
        self.found: list[Detections] | None = None
        self.start = math.nan
        self._losses: list[float] = []

    def advance(self, batch: Batch) -> Step:
        loss = self.learner.step(batch)
        self._losses.append(loss)
        step, training = self.learner.done, self.settings.training
        if step % training.validate_every == 0 or step == training.steps:
            self._validate()
        return Step(step, loss, self.history[-1]["ap"] if self.history else math.nan)

    def _validate(self) -> None:
        step, network = self.learner.done, self.learner.network
        found = detect_all(network, self.validation, self.settings, kept=self.kept)
        result = evaluate(self.validation, found)
        self.history.append(
            {
                "step": step,
                "loss": sum(self._losses) / len(self._losses),
                "learning_rate": float(self.learner.optimiser.param_groups[0]["lr"]),
                "ap": result.ap,
                "ap50": result.ap50,
            }
        )
        self._losses.clear()
        value = -1.0 if math.isnan(result.ap) else result.ap
        # What was trained is kept where it is as good as the start.
        first = self.best["step"] == 0 and value == self.best["value"]
        if value > self.best["value"] or first:
            self.found = found
            self.best = {"step": step, "value": value, "network": copy_of(network)}
        if self.out is not None:
            parts = {name: part.state_dict() for name, part in self.learner.parts().items()}
            state = {
                "step": step,
                "history": self.history,
                "best": self.best,
                "start": self.start,
                **parts,
            }
            save_checkpoint(self.out, self.settings, self.data, state)
            write_csv(self.out / "metrics.csv", self.history)

    def measure_start(self) -> None:
        """Evaluate the detector before the first step: the first to be the best."""
        network = self.learner.network
        with torch.random.fork_rng(devices=[]):
            self.found = detect_all(network, self.validation, self.settings, kept=self.kept)
        self.start = evaluate(self.validation, self.found).ap
        value = -1.0 if math.isnan(self.start) else self.start
        self.best = {"step": 0, "value": value, "network": copy_of(network)}

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
        network = self.learner.network
        network.load_state_dict(self.best["network"])
        network.eval()
        if self.found is None:  # the best was before a stop
            self.found = detect_all(network, self.validation, self.settings, kept=self.kept)
        step, value = int(self.best["step"]), float(self.best["value"])
        return Trained(network, self.history, step, value, self.found, self.start)


def fingerprint(pictures: DetectionSet) -> str:
    """A word that changes when the training pictures or their objects do, or their order."""
    seen = hashlib.sha256(",".join(pictures.classes).encode())
    for i, one in enumerate(pictures.objects):
        seen.update(one.boxes.numpy().tobytes() + one.labels.numpy().tobytes())
        seen.update(pictures.called(i).encode())  # the folder may have been moved
        if pictures.pixels is not None:
            seen.update(pictures.pixels[i].contiguous().numpy().tobytes())
    return seen.hexdigest()[:16]
