"""Trials of a search on several processes: those of torchrun, or the tasks of a Ray cluster.

A search asks for as many options as there are workers, and each worker evaluates one of them on all
tuned splits. The first process asks, chooses and writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import torch.distributed as dist

from rankwise.estimators.limits import threads_for
from rankwise.tasks.compare.candidates import Params
from rankwise.tasks.compare.problem import Plan, Problem
from rankwise.tasks.compare.trial import TrialResult, Trials
from rankwise.training import world_size

_PATIENCE = timedelta(days=30)  # workers wait while the first process fits; a dead one ends all


class Workers(Protocol):
    """Processes that evaluate trials."""

    count: int

    def run(self, trials: Trials, asked: Sequence[Params], seconds: float) -> list[TrialResult]:
        """Evaluate at most ``count`` options at a time, each within some seconds."""


@contextmanager
def open_workers(problem: Problem, out: Path, ray: str | None, *, resume: bool) -> Iterator[Any]:
    """Yield the :class:`Workers` of a run: None where it has one process.

    In all processes of torchrun but the first it yields False, when their work is done.
    """
    if ray is not None:
        from rankwise.training.cluster import (  # noqa: PLC0415  (Ray)
            Cluster,
            connected,
            stored,
        )

        cluster = Cluster.parse(ray)
        with stored(cluster.storage, out, resume=resume), connected(cluster) as package:
            yield RayWorkers(package, cluster.workers)
    elif world_size() == 1:
        yield None
    else:
        dist.init_process_group("gloo", timeout=_PATIENCE)
        try:
            if dist.get_rank():
                _serve(problem)
                yield False
            else:
                workers = ProcessWorkers()
                try:
                    yield workers
                finally:
                    workers.stop()
        finally:
            dist.destroy_process_group()


class ProcessWorkers:
    """The processes of torchrun; made in the first one, which evaluates trials, too."""

    def __init__(self) -> None:
        self.count = dist.get_world_size()
        self._plan: Plan | None = None  # that the others have
        self._waiting = False  # for results

    def run(self, trials: Trials, asked: Sequence[Params], seconds: float) -> list[TrialResult]:
        """Evaluate the first options here, and the others in the other processes."""
        plan = trials.problem.plan
        new = None if plan is self._plan else plan  # rows are sent once
        self._waiting, self._plan = True, plan
        dist.broadcast_object_list([(trials.candidate, trials.cost, new, asked, seconds)])
        own = trials.run(asked[0], seconds)
        found: list[Any] = [None] * self.count
        dist.gather_object(own, found)
        self._waiting = False
        for each in found:
            if isinstance(each, BaseException):
                raise each
        return found[: len(asked)]

    def stop(self) -> None:
        """Let the other processes end, unless an error leaves them in the middle of a trial."""
        if not self._waiting:
            dist.broadcast_object_list([None])


def _serve(problem: Problem) -> None:
    """Evaluate trials for the first process until it is done."""
    with threads_for(len(problem.table) * len(problem.table.names)):
        while True:
            received: list[Any] = [None]
            dist.broadcast_object_list(received)
            if received[0] is None:
                return
            candidate, cost, plan, asked, seconds = received[0]
            problem = problem if plan is None else replace(problem, plan=plan)
            found: TrialResult | Exception | None = None
            if dist.get_rank() < len(asked):
                try:
                    trials = Trials(candidate, problem, cost)
                    found = trials.run(asked[dist.get_rank()], seconds)
                except Exception as error:  # raised in the first process
                    found = error
            dist.gather_object(found)


class RayWorkers:
    """Tasks of a Ray cluster: one that dies with its machine is evaluated again on another."""

    def __init__(self, ray: Any, count: int) -> None:
        self.ray, self.count = ray, count
        self._task = ray.remote(_evaluate)
        self._sent: tuple[Problem | None, Any] = (None, None)

    def run(self, trials: Trials, asked: Sequence[Params], seconds: float) -> list[TrialResult]:
        """Evaluate every option in a task of its own."""
        if trials.problem is not self._sent[0]:  # the table is sent once
            self._sent = trials.problem, self.ray.put(trials.problem)
        about = (trials.candidate, trials.cost, seconds)
        tasks = [self._task.remote(self._sent[1], *about, params) for params in asked]
        found: list[TrialResult] = self.ray.get(tasks)
        return found


def _evaluate(
    problem: Problem, candidate: Any, cost: Any, seconds: float, params: Params
) -> TrialResult:
    with threads_for(len(problem.table) * len(problem.table.names)):
        return Trials(candidate, problem, cost).run(params, seconds)
