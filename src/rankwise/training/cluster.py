"""Trainings on a Ray cluster: the processes of torchrun, restarted where one dies.

Ray Train starts the processes and their process group. The trainer is not involved.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rankwise.errors import UsageError
from rankwise.extras import require
from rankwise.files import after_write
from rankwise.training.storage import Storage

_RESTARTS = 3  # of all workers, where one of them died
_FORM = "must be name=value pairs separated by commas, such as address=auto,workers=4"


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster, and the number of workers on it.

    Args:
        workers: Number of processes of a training, or of trials at a time.
        address: Address of a running cluster, ``"auto"`` for that of this machine; None: a cluster
            on this machine that lasts as long as the command.
        storage: Where fsspec keeps a copy of the run folder, for clusters without a shared disk.
    """

    workers: int
    address: str | None = None
    storage: str | None = None

    @classmethod
    def parse(cls, text: str) -> Cluster:
        """Read ``address=auto,workers=4,storage=s3://bucket/run``."""
        given: dict[str, str] = {}
        names = [field.name for field in fields(cls)]
        for pair in text.split(","):
            name, equals, value = pair.partition("=")
            if not equals or not value or name not in names:
                raise UsageError(f"--ray {_FORM}, of {', '.join(names)}; got {pair!r}")
            given[name] = value
        workers = given.pop("workers", "")
        if not workers.isdecimal() or int(workers) < 1:
            raise UsageError(f"--ray must have workers=N with N >= 1, got {text!r}")
        return cls(int(workers), **given)


@contextmanager
def connected(cluster: Cluster) -> Iterator[Any]:
    """Connect to a cluster, or start one on this machine, and yield the package ``ray``."""
    require("rankwise.training", "ray", "fsspec")
    # Before ray is imported: no report of its use leaves the machine unless it is asked for.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray  # noqa: PLC0415  (an extra, and seconds to import)

    if ray.is_initialized():
        yield ray
        return
    if cluster.address is None:
        cpus = max(cluster.workers, os.cpu_count() or 1)
        # Nothing outside of this machine can reach it.
        ray.init(num_cpus=cpus, include_dashboard=False, _node_ip_address="127.0.0.1")
    else:
        ray.init(address=cluster.address)
    try:
        yield ray
    finally:
        ray.shutdown()


def require_unused(url: str | None, out: Path, *, resume: bool) -> None:
    """Raise where a storage holds a run that is not to be resumed."""
    if url is not None and not resume and Storage(url, out).holds_run:
        raise UsageError(
            f"{url} already holds a run; pass --resume to continue it, or another storage in --ray"
        )


@contextmanager
def stored(url: str | None, out: Path, *, resume: bool) -> Iterator[None]:
    """Copy what is written into a run folder to a storage, and begin with the copy that is there.

    Raises:
        UsageError: Where there is a copy, and ``resume`` is False.
    """
    if url is None:
        yield
        return
    require_unused(url, out, resume=resume)
    storage = Storage(url, out)
    if storage.holds_run:
        storage.fetch()
    with after_write(storage.copy):
        yield
    storage.finish()


def train_on(cluster: Cluster, train: Callable[[bool], None], out: Path, *, resume: bool) -> None:
    """Train by the workers of a cluster, and again from the last checkpoint where one dies.

    Args:
        cluster: Cluster and number of workers.
        train: Trains in a process; called with whether to resume the run in ``out``.
        out: Run folder, on the machine of the first worker.
        resume: Whether to resume a run that is already there.

    Raises:
        UsageError: As ``train`` raises it.
    """
    require_unused(cluster.storage, out, resume=resume)  # before workers start
    with connected(cluster) as ray:
        from ray.train import FailureConfig, RunConfig, ScalingConfig  # noqa: PLC0415
        from ray.train.torch import TorchTrainer  # noqa: PLC0415

        log = ray.remote(num_cpus=0)(_Log).remote()
        out = out.absolute()
        given = {"train": train, "out": out, "resume": resume, "log": log, "folder": os.getcwd()}
        gpus = ray.cluster_resources().get("GPU", 0) >= cluster.workers
        trainer = TorchTrainer(
            _work,
            train_loop_config={**given, "storage": cluster.storage},
            scaling_config=ScalingConfig(num_workers=cluster.workers, use_gpu=gpus),
            run_config=RunConfig(
                storage_path=str(Path(tempfile.gettempdir(), "rankwise-ray")),
                failure_config=FailureConfig(max_failures=_RESTARTS),
            ),
        )
        problem: str | None = None
        try:
            trainer.fit()
        finally:
            problem = ray.get(log.problem.remote())
            if problem is not None:
                raise UsageError(problem) from None
    if cluster.storage is not None and not out.exists():
        Storage(cluster.storage, out).fetch()  # the first worker was on another machine


class _Log:
    """What the workers of one training know of each other, over all starts."""

    def __init__(self) -> None:
        self.starts = 0
        self.found: str | None = None

    def start(self) -> int:
        """Count a start of the first worker, and return how many there were before."""
        self.starts += 1
        return self.starts - 1

    def fail(self, problem: str) -> None:
        """Keep an error that another start would not settle."""
        self.found = self.found or problem

    def problem(self) -> str | None:
        """Return that error."""
        return self.found


def _work(given: dict[str, Any]) -> None:
    """Train in one worker."""
    import ray  # noqa: PLC0415

    log = given["log"]
    if ray.get(log.problem.remote()) is not None:
        return
    if Path(given["folder"]).is_dir():
        os.chdir(given["folder"])  # what the command line names is found from there
    first = os.environ["RANK"] == "0"
    try:
        # A run that was begun by an earlier start is resumed.
        resume = [first and (given["resume"] or ray.get(log.start.remote()) > 0)]
        with stored(given["storage"] if first else None, given["out"], resume=resume[0]):
            _broadcast(resume)
            given["train"](resume[0])
    except UsageError as error:
        ray.get(log.fail.remote(str(error)))
        raise


def _broadcast(values: list[bool]) -> None:
    import torch.distributed as dist  # noqa: PLC0415

    if dist.is_initialized():
        dist.broadcast_object_list(values)
