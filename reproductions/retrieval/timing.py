"""What a step costs: the loss by itself, and the whole of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from statistics import median

import torch

from rankwise.tasks.retrieval.task import RetrievalTask
from rankwise.training import Learner
from reproductions.frame import Runs, spent
from reproductions.retrieval.benches import Scratch, Trial
from reproductions.retrieval.methods import Method


@dataclass(frozen=True)
class Time:
    """Milliseconds of processor time, medians over the steps."""

    method: str
    loss: float  # forward and backward of the loss alone
    step: float  # the whole: views, network, loss, both ways, and the optimizer


def times(bench: Scratch, runs: Runs) -> list[Time]:
    """Of every method of the plan, with the network from scratch."""
    found = []
    for method in bench.plan.methods:
        kept = runs.get(f"time / {method.name}", partial(_time, bench, method))
        found.append(Time(**kept))
    return found


def _time(bench: Scratch, method: Method) -> dict[str, object]:
    clock = bench.plan.clock
    settings = bench.settings(Trial(method, method.tries[0], bench.budget.rates[0], 0))
    batches = settings.batches
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        task = RetrievalTask(bench.problem.splits, settings)
        learner = Learner(task)
        learner.done = settings.objective.warm_start  # behind it
        whole, alone = [], []
        for batch in islice(task.batches(0), bench.plan.timed + 1):
            whole.append(spent(clock, partial(learner.step, batch)))
            labels = task.labels[batch.rows][:: batches.per_class]
            labels = labels.repeat_interleave(batches.per_class * 2**settings.mixup.stages)
            alone.append(spent(clock, partial(_loss, task, learner.done, labels, batch.rows)))
    # The first of each warms up.
    return asdict(Time(method.name, 1000 * median(alone[1:]), 1000 * median(whole[1:])))


def _loss(task: RetrievalTask, step: int, labels: torch.Tensor, rows: torch.Tensor) -> None:
    raw = torch.randn(len(labels), task.settings.network.dimension)
    embeddings = torch.nn.functional.normalize(raw, dim=1).requires_grad_()
    previous = embeddings.detach() if task.previous is not None else None
    known = rows if task.loss.needs_rows else None
    task.loss(embeddings, labels, step=step, rows=known, previous=previous).backward()
