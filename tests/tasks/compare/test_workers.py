"""Trials on several processes are those that one process evaluates in turn."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import optuna
import pytest
from tests.tasks.compare.stubs import settings as small
from tests.training.processes import launch, run_processes
from tests.training.ray_cluster import cluster

from rankwise.tasks.compare import pipeline
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.storage import STUDY, open_storage

__all__ = ["cluster"]  # a fixture


def settings(folder: Path) -> Settings:
    return small(folder, candidates="linear:log_loss,linear:ap", trials=5, budget=3600.0)


class InTurn:
    """Workers that are this process."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: list[int] = []

    def run(self, trials, asked, seconds):
        self.asked.append(len(asked))
        return [trials.run(params, seconds) for params in asked]


def outcome(folder: Path) -> dict[str, object]:
    """Return the trials of every search, and what was written of the test part."""
    found: dict[str, object] = {}
    with open_storage(folder / STUDY) as storage:
        for name in optuna.get_all_study_names(storage):
            study = optuna.load_study(study_name=name, storage=storage)
            found[name] = [(t.params, t.value) for t in study.get_trials(deepcopy=False)]
    results = json.loads((folder / "results.json").read_text())
    found["test"] = [(row["name"], row["test"]) for row in results["candidates"]]
    return found


@pytest.fixture
def in_turn(tmp_path, monkeypatch):
    """What one process does with a number of trials at a time."""

    def run(count: int) -> dict[str, object]:
        workers = InTurn(count)

        @contextmanager
        def opened(*_, **__):
            yield workers

        monkeypatch.setattr(pipeline, "open_workers", opened)
        pipeline.run(settings(tmp_path), tmp_path / "alone")
        assert workers.asked == 2 * [2, 2, 1]
        return outcome(tmp_path / "alone")

    return run


def work(rank: int, folder: str) -> None:
    """Called in several processes."""
    found = pipeline.run(settings(Path(folder)), Path(folder) / "run")
    assert (found is None) == (rank > 0)


def test_processes_have_one_trial_each(tmp_path, in_turn):
    settings(tmp_path)  # writes the table
    run_processes(2, "tests.tasks.compare.test_workers", "work", str(tmp_path))
    assert outcome(tmp_path / "run") == in_turn(2)


def refused(rank: int, folder: str) -> None:
    """Called in two processes: the first one refuses a folder that is not empty."""
    pipeline.run(settings(Path(folder)), Path(folder))


@pytest.mark.full
def test_an_error_of_the_first_process_ends_the_others(tmp_path):
    settings(tmp_path)
    done = launch(2, "tests.tasks.compare.test_workers", "refused", str(tmp_path))
    assert done.returncode != 0
    errors = [line for line in done.stderr.decode().splitlines() if "DataError: " in line]
    assert [line.endswith("holds no run; pass another --out") for line in errors] == [True]
    assert "Connection" not in done.stderr.decode()


@pytest.mark.full
def test_ray_tasks_have_one_trial_each(cluster, tmp_path, in_turn):
    stored = f"workers=2,storage={tmp_path / 'storage'}"
    pipeline.run(settings(tmp_path), tmp_path / "run", ray=stored)
    found = outcome(tmp_path / "run")
    assert outcome(tmp_path / "storage") == found
    assert found == in_turn(2)
