"""Several processes train as one on the joined batch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import torch
from tests.tasks.recommendation.cases import settings, two_kinds, written
from tests.training.processes import run_two

from rankwise.tasks.recommendation import (
    Settings,
    UsageError,
    network,
    prepared,
    run,
    train,
)
from rankwise.tasks.recommendation.training import RecommendTask
from rankwise.training import Devices, Place

CASES = {
    "rows": dict(negatives=6, batch=7, objective="softmax"),
    "catalog": dict(negatives=0, batch=24, objective="ndcg"),
    "cosine": dict(negatives=6, batch=9, objective="ndcg", scores="cosine", temperature=0.3),
}


def trained(case: str, out: Path | None = None):
    network.LARGE = 10  # the tables of 20 users and 16 items are large
    chosen = settings(**CASES[case])
    losses: list[float] = []
    found = train(prepared(two_kinds(), chosen), chosen, out,
                  on_step=lambda step: losses.append(step.loss))  # fmt: skip
    state = found.network.state_dict()
    return {"state": state, "history": found.history, "losses": losses, "best": found.best}


def work(rank: int, folder: str, case: str) -> None:
    """Called in each process."""
    torch.save(trained(case, Path(folder) / "run"), Path(folder) / f"{rank}.pt")


@pytest.mark.parametrize("case", ["rows", *(pytest.param(c, marks=pytest.mark.full)
                                            for c in ("catalog", "cosine"))])  # fmt: skip
def test_two_processes_are_one(tmp_path, case, monkeypatch):
    monkeypatch.setattr(network, "LARGE", network.LARGE)  # restored after the test
    run_two("tests.tasks.recommendation.test_processes", "work", str(tmp_path), case)
    _require_same(tmp_path, case, 2)


def _require_same(folder: Path, case: str, processes: int) -> None:
    found = [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(processes)]
    alone = trained(case)
    for other in found[1:]:
        assert other["history"] == found[0]["history"]
        assert other["losses"] == found[0]["losses"]
        for name, value in found[0]["state"].items():
            assert torch.equal(value, other["state"][name])
    assert found[0]["losses"] == pytest.approx(alone["losses"], rel=1e-4)
    assert found[0]["best"] == alone["best"]
    for name, value in alone["state"].items():
        torch.testing.assert_close(found[0]["state"][name], value, rtol=1e-3, atol=1e-4)
    assert (folder / "run" / "checkpoint.pt").is_file()


def test_objectives_with_a_memory_are_refused():
    chosen = settings(objective="soprc", warm_start=0)
    with pytest.raises(UsageError, match="objective 'soprc' trains in one process"):
        RecommendTask(prepared(two_kinds(), chosen), chosen, Place(rank=0, world_size=2))


@pytest.mark.full
def test_three_processes_of_torchrun_write_one_run(tmp_path):
    data = written(tmp_path / "kinds.csv")
    options = ["--scores", "dot", "--dimension", "4", "--batch", "7", "--negatives", "6"]
    options += ["--objective", "softmax", "--epochs", "3", "--metric", "ndcg@3", "--metrics", "mrr"]
    torchrun = ["-m", "torch.distributed.run", "--nproc-per-node", "3"]
    for name, start in (("one", []), ("three", torchrun)):
        command = [*start, "-m", "rankwise", "recommend", "train", str(data), *options]
        done = subprocess.run(
            [sys.executable, *command, "--out", str(tmp_path / name)],
            capture_output=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout.decode().count("index.html") == 1
    one, three = (pl.read_csv(tmp_path / name / "metrics.csv") for name in ("one", "three"))
    for column in one.columns:
        assert three[column].to_list() == pytest.approx(one[column].to_list(), rel=1e-3)
    found = (
        json.loads((tmp_path / name / "results.json").read_text()) for name in ("one", "three")
    )
    first, second = (each["test"]["model"]["mrr"]["value"] for each in found)
    assert second == pytest.approx(first, rel=0.05)


def test_models_in_closed_form_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Devices, "__init__", _second_of_two)
    chosen = Settings(model="itemknn", metric="ndcg@3")
    with pytest.raises(UsageError, match="model itemknn is fitted in one process, got 2"):
        run(prepared(two_kinds(), chosen), chosen, tmp_path / "run")


def _second_of_two(self: Devices) -> None:
    self.place = Place(rank=1, world_size=2)
