"""Several processes fit one network; the rest of learning to rank is fitted by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.tasks.ranking.cases import written
from tests.training.processes import run_processes

from rankwise.data.letor import read_letor
from rankwise.errors import UsageError
from rankwise.tasks.ranking import load_run, run, scores_of
from rankwise.tasks.ranking.settings import Settings


def settings(objective: str, batch: int, epochs: int = 4) -> Settings:
    options = {"batch_size": batch, "epochs": epochs, "warm_start_epochs": 1, "hidden": [8]}
    return Settings(objective=objective, options=options)


def work(rank: int, folder: str, objective: str, batch: str) -> None:
    """Called in several processes; what is asserted here fails the launch."""
    train = read_letor(Path(folder) / "lists.txt")
    out = Path(folder) / "run"
    found = run(settings(objective, int(batch)), out, train)
    assert (found is None) == (rank > 0)
    found = run(settings(objective, int(batch)), out, train, resume=True)  # of a finished run
    assert (found is None) == (rank > 0)
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        run(settings(objective, int(batch)), out, train)
    with pytest.raises(UsageError, match="rank --model linear trains in one process, got"):
        run(Settings(model="linear"), Path(folder) / "linear", train)


@pytest.mark.full
@pytest.mark.parametrize(("processes", "objective"), [(2, "ndcg@10"), (3, "ap")])
def test_processes_are_one_on_the_joined_batch(tmp_path, processes, objective):
    train = read_letor(written(tmp_path / "lists.txt"))
    size = 36 // processes
    run_processes(
        processes,
        "tests.tasks.ranking.test_processes",
        "work",
        str(tmp_path),
        objective,
        str(size),
    )
    alone = run(settings(objective, 36), tmp_path / "alone", train)
    assert alone is not None
    _, ranker = load_run(tmp_path / "run")
    assert ranker.history_ == pytest.approx(alone.ranker.history_, rel=1e-4)
    np.testing.assert_allclose(
        scores_of(ranker, train), scores_of(alone.ranker, train), rtol=1e-3, atol=1e-3
    )
    assert (tmp_path / "run" / "results.json").exists()
