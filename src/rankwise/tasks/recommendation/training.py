"""The loop: lists of positives and negatives, one loss, the best epoch on validation kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from rankwise.report import write_csv
from rankwise.tasks.recommendation.batches import Batches
from rankwise.tasks.recommendation.checkpoint import load_checkpoint, save_checkpoint
from rankwise.tasks.recommendation.evaluation import evaluate
from rankwise.tasks.recommendation.losses import by_interaction, loss_of, warm_starts
from rankwise.tasks.recommendation.measures import measure_of
from rankwise.tasks.recommendation.network import Recommender, new_recommender
from rankwise.tasks.recommendation.problem import Problem
from rankwise.tasks.recommendation.settings import Settings

__all__ = ["Step", "Trained", "new_network", "train"]


@dataclass(frozen=True)
class Step:
    """Where the training is, after every step; both count from 1."""

    epoch: int
    step: int
    steps: int  # of an epoch
    loss: float
    value: float  # the metric of the last epoch on validation; NaN before the first


@dataclass(frozen=True)
class Trained:
    """The network of the best epoch, and one row for every epoch."""

    network: Recommender
    history: list[dict[str, float]]
    best: int  # epoch; 0: the start, where no epoch was as good
    start: float = math.nan  # the metric on validation before training

    @property
    def warm(self) -> int:
        """Epochs of the warm start."""
        return sum(row["warm_start"] == 1 for row in self.history)


def new_network(problem: Problem, settings: Settings) -> Recommender:
    """The network before training; leaves torch's own generator seeded."""
    torch.manual_seed(settings.seed)
    sizes = len(problem.users), len(problem.items)
    return new_recommender(*sizes, settings, problem.user_features, problem.item_features)


def train(
    problem: Problem,
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
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        run = _Run(problem, settings)
        if not (out is not None and resume and run.restore(out)):
            run.measure_start()
        while not run.finished:
            run.epoch(on_step)
            if run.warm and run.stage_over:
                run.start(warm=False)
            if out is not None:
                run.save(out)
        run.network.load_state_dict(run.best_state)
        return Trained(run.network.eval(), run.history, run.best, run.start_value)


class _Run:
    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.settings, self.measure = settings, measure_of(settings.metric)
        self.positives = problem.pairs((0,))
        loss_of(settings.objective, self.positives)  # refuses a wrong name before a warm start
        self.network = new_network(problem, settings)
        self.seen, self.wanted = problem.pairs((0,), positive=False), problem.pairs((1,))
        self.history: list[dict[str, float]] = []
        self.best_state: dict[str, Tensor] = deepcopy(self.network.state_dict())
        self.data = problem.fingerprint()
        self.start_value = math.nan
        self.start(warm=warm_starts(settings))

    def start(self, *, warm: bool) -> None:
        """Softmax first, or from the best epoch so far the objective."""
        settings = self.settings
        name = "softmax" if warm else settings.objective
        rate = settings.learning_rate / (10 if self.history else 1)
        self.network.load_state_dict(self.best_state)
        self.warm, self.before = warm, len(self.history)
        self.loss = loss_of(name, self.positives)
        self.optimiser = torch.optim.AdamW(
            [*self.network.parameters(), *self.loss.parameters()],
            rate,
            weight_decay=settings.weight_decay,
        )
        single = warm or by_interaction(name, settings.lists)
        self.batches = Batches(self.positives, settings, single=single)

    @property
    def best(self) -> int:
        """The epoch with the best metric; 0 before the first, and where none is up to the start."""
        values = [row[self.settings.metric] for row in self.history]
        if not values or max(values) < self.start_value:
            return 0
        return 1 + values.index(max(values))

    @property
    def stage_over(self) -> bool:
        done = len(self.history)
        most = self.settings.warm_start if self.warm else self.settings.epochs
        waited = done - max(self.best, self.before)
        return done - self.before >= most or waited >= self.settings.patience

    @property
    def finished(self) -> bool:
        return not self.warm and self.stage_over

    def measure_start(self) -> None:
        """Evaluate the network before the first epoch."""
        self.network.eval()
        with torch.random.fork_rng(devices=[]):
            self.start_value = self.validated()

    def validated(self) -> float:
        """The metric on validation, of the network as it is."""
        found = evaluate(self.network.scores(), self.wanted, self.seen, [self.measure])
        return found.means()[str(self.measure)].value

    def restore(self, out: Path) -> bool:
        state = load_checkpoint(out, self.settings, self.data)
        if state is None:
            return False
        self.start_value = state.get("start", math.nan)
        self.best_state, self.history = state["best"], state["history"]
        self.start(warm=state["warm"])
        self.before = state["before"]
        self.network.load_state_dict(state["network"])
        self.loss.load_state_dict(state["loss"])
        self.optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["generator"])
        write_csv(out / "metrics.csv", self.history)
        return True

    def save(self, out: Path) -> None:
        state = {
            "network": self.network.state_dict(),
            "loss": self.loss.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "best": self.best_state,
            "warm": self.warm,
            "before": self.before,
            "history": self.history,
            "start": self.start_value,
        }
        save_checkpoint(out, self.settings, self.data, state)
        write_csv(out / "metrics.csv", self.history)

    def epoch(self, on_step: Callable[[Step], None]) -> None:
        self.network.train()
        number, steps, total = len(self.history) + 1, self.batches.steps, 0.0
        last = self.history[-1][self.settings.metric] if self.history else math.nan
        for step, batch in enumerate(self.batches.epoch(), start=1):
            loss = batch.loss(self.network, self.loss)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            total += loss.item()
            on_step(Step(number, step, steps, loss.item(), last))
        self.network.eval()
        value = self.validated()
        row = {"epoch": number, "warm_start": float(self.warm), "loss": total / steps}
        self.history.append({**row, self.settings.metric: value})
        if self.best == number:
            self.best_state = deepcopy(self.network.state_dict())
