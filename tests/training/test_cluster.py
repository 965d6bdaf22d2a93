"""A real cluster on this machine, of two workers."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest
import torch
from tests.training.processes import run_two
from tests.training.ray_cluster import cluster
from tests.training.toy import Toy, equal

from rankwise.errors import UsageError
from rankwise.training import Callback, Step, fit
from rankwise.training.cluster import Cluster, train_on

__all__ = ["cluster"]  # a fixture


def train(folder: Path, out: Path, resume: bool, die: bool = False) -> None:
    """Train on 4 rows in each process; one of them is killed at its fourth step, once."""

    def stop(step: Step) -> None:
        marker = folder / "killed"
        if die and step.step == 4 and os.environ["RANK"] == "1" and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def make(place):
        return Toy(size=4, noise=0.1, dropout=0.2, place=place)

    _, fitted = fit(make, out, "toy", resume=resume, callbacks=[Callback(on_step=stop)])
    found = {"network": fitted.last, "history": fitted.history, "resumed": resume}
    torch.save(found, folder / f"{os.environ['RANK']}.pt")


def undisturbed(rank: int, folder: str) -> None:
    """Called in two processes."""
    train(Path(folder), Path(folder) / "run", False)


def test_a_killed_worker_is_started_again_to_the_same_result(cluster, tmp_path):
    """The run goes on from the copy of its last checkpoint, on whatever machine it is."""
    whole, other = tmp_path / "whole", tmp_path / "cluster"
    for folder in (whole, other):
        folder.mkdir()
    run_two("tests.training.test_cluster", "undisturbed", str(whole))
    stored = Cluster(2, storage=str(tmp_path / "storage"))
    train_on(stored, partial(train, other, other / "run", die=True), other / "run", resume=False)
    assert (other / "killed").exists()
    expected = torch.load(whole / "0.pt", weights_only=True)
    for rank in range(2):
        found = torch.load(other / f"{rank}.pt", weights_only=True)
        assert found["resumed"]
        assert found["history"] == expected["history"]
        assert equal(found["network"], expected["network"])
    names = sorted(path.name for path in (tmp_path / "storage").iterdir())
    assert names == sorted(path.name for path in (other / "run").iterdir())
    for name in names:
        assert (tmp_path / "storage" / name).read_bytes() == (other / "run" / name).read_bytes()


def refused(folder: Path, resume: bool) -> None:
    with (folder / "starts").open("a") as file:
        file.write("x")
    raise UsageError("prior must be in (0, 1), got 2")


@pytest.mark.full
def test_wrong_usage_is_not_tried_again(cluster, tmp_path):
    with pytest.raises(UsageError, match=r"^prior must be in \(0, 1\), got 2$"):
        train_on(cluster, partial(refused, tmp_path), tmp_path / "run", resume=False)
    assert len((tmp_path / "starts").read_text()) <= 2  # one for each worker


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("workers=3", Cluster(3)),
        ("address=auto,workers=4", Cluster(4, "auto")),
        ("workers=1,storage=s3://b/run", Cluster(1, None, "s3://b/run")),
    ],
)
def test_the_option_is_read(text, found):
    assert Cluster.parse(text) == found


@pytest.mark.parametrize(
    "text", ["", "4", "workers", "workers=", "workers=0", "cpus=2", "address=auto"]
)
def test_what_it_is_not_is_refused(text):
    with pytest.raises(UsageError, match=r"^--ray must"):
        Cluster.parse(text)
