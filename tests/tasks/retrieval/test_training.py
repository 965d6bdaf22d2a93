from __future__ import annotations

import csv
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.tasks.retrieval.cases import evaluate, images, settings, splits, states_equal

from rankwise.data.images import ImageSet
from rankwise.errors import UsageError
from rankwise.tasks.retrieval.task import RetrievalTask, new_network, train
from rankwise.training import Callback, Step, Trainer
from rankwise.vision.image_dataset import ImageDataset

KILLED = """
import os, signal, sys
from pathlib import Path
import torch
sys.path.insert(0, sys.argv[1])
from tests.tasks.retrieval.cases import settings, splits
from rankwise.tasks.retrieval.task import train

torch.set_num_threads(1)

def stop(step):
    if step.step == 5:
        os.kill(os.getpid(), signal.SIGKILL)

train(splits(), settings(*sys.argv[3:]), Path(sys.argv[2]), on_step=stop)
"""
EVERYTHING = (  # state of every kind: batch norm, momentum, quantiles, previous parameters
    "objective.name=stable_ap",
    "objective.previous=true",
    "objective.warm_start=1",
    "mixup.stages=1",
    "optimizer.name=sgd",
    "optimizer.milestones=[3]",
    "augmentations.rotation=10",
)
ROOT = Path(__file__).parents[3]


def stop(step: Step) -> None:
    if step.step == 5:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("changes", "kill"),
    [
        (EVERYTHING, True),
        (("objective.name=soprc", "memory.size=8", "memory.start=2"), False),
        (("objective.name=proxy_anchor",), False),
    ],
    ids=["killed", "stopped, with memory", "stopped, with proxies"],
)
def test_a_run_that_was_killed_ends_as_if_it_was_not(tmp_path, changes, kill):
    if kill:
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(ROOT), str(tmp_path / "killed"), *changes],
            capture_output=True,
            check=False,
        )
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    else:
        with pytest.raises(KeyboardInterrupt):
            train(splits(), settings(*changes), tmp_path / "killed", on_step=stop)
    seen: list[Step] = []
    resumed = train(
        splits(), settings(*changes), tmp_path / "killed", resume=True, on_step=seen.append
    )
    assert [step.step for step in seen] == [5, 6]  # from the validation after step 4
    whole = train(splits(), settings(*changes), tmp_path / "whole")
    assert states_equal(resumed.network.state_dict(), whole.network.state_dict())
    assert resumed.history == whole.history
    states = [
        torch.load(tmp_path / name / "checkpoint.pt", weights_only=True)
        for name in ("killed", "whole")
    ]
    assert states_equal(*(state["loss"] for state in states))
    assert states_equal(*(state["network"] for state in states))


def test_history_checkpoint_and_callers_random_numbers(tmp_path):
    torch.manual_seed(5)
    state = torch.get_rng_state()
    seen: list[Step] = []
    found = train(splits(), settings(), tmp_path, on_step=seen.append)
    assert torch.equal(torch.get_rng_state(), state)
    assert [row["step"] for row in found.history] == [2, 4, 6]
    rows = list(csv.DictReader((tmp_path / "metrics.csv").read_text().splitlines()))
    assert [float(row["map"]) for row in rows] == [row["map"] for row in found.history]
    assert found.history[1]["loss"] == pytest.approx((seen[2].loss + seen[3].loss) / 2)
    assert seen[1].value == found.history[0]["map"]
    assert not found.network.training


def test_it_learns():
    chosen = settings("training.steps=60", "training.validate_every=20")
    parts = splits(test=images("test", 12, seed=7))
    with torch.random.fork_rng(devices=[]):
        before = new_network(ImageDataset(parts.train, chosen.augmentations), chosen)
    found = train(parts, chosen)
    assert (
        evaluate(found.network, parts.train, chosen).map > evaluate(before, parts.train, chosen).map
    )
    assert found.history[-1]["loss"] < found.history[0]["loss"]


def test_it_stops_when_validation_gets_no_better_and_keeps_the_best(monkeypatch):
    measured([0.0, 0.1, 0.5, 0.3, 0.5, 0.4, 0.9], monkeypatch)
    chosen = settings("training.validate_every=1", "training.steps=9", "training.patience=3")
    with torch.random.fork_rng(devices=[]):
        task, states = RetrievalTask(splits(), chosen), []

        def keep(step: Step) -> None:
            states.append({n: t.clone() for n, t in task.network.state_dict().items()})

        found = Trainer(task, callbacks=[Callback(on_step=keep)]).fit()
    assert len(states) == 5  # 0.5 again is no better
    assert found.best_step == 2
    assert states_equal(task.network.state_dict(), states[1])


def test_without_validation_the_last_network_is_kept():
    empty = ImageSet("validation", torch.zeros(0, dtype=torch.long), (), paths=())
    parts = splits(validation=empty)
    found = train(parts, settings())
    assert found.best_step == 6
    assert "map" not in found.history[-1]
    with pytest.raises(UsageError, match=r"training\.patience needs validation images"):
        train(parts, settings("training.patience=1"))


def test_more_classes_than_there_are():
    with pytest.raises(UsageError, match="must be at most the 6 classes of the training images"):
        train(replace(splits()), settings("batches.classes=7"))


def test_steps_that_are_no_multiple_end_with_a_validation():
    found = train(splits(), settings("training.steps=5"))
    assert [row["step"] for row in found.history] == [2, 4, 5]


def measured(values: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter(values)
    monkeypatch.setattr(RetrievalTask, "validate", lambda task: {"map": next(given)})


def test_where_nothing_is_better_than_the_start_the_start_is_kept(monkeypatch):
    with torch.random.fork_rng(devices=[]):
        start = RetrievalTask(splits(), settings()).network.state_dict()
    measured([0.5, 0.4, 0.3, 0.2], monkeypatch)
    found = train(splits(), settings())
    assert (found.best_step, found.start) == (0, 0.5)
    assert [row["map"] for row in found.history] == [0.4, 0.3, 0.2]
    assert states_equal(found.network.state_dict(), start)


def test_what_is_as_good_as_the_start_is_kept_as_trained(monkeypatch):
    measured([0.5, 0.4, 0.5, 0.5], monkeypatch)
    assert train(splits(), settings()).best_step == 4


def test_a_resumed_run_knows_its_start(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(splits(), settings(), tmp_path / "stopped", on_step=stop)
    resumed = train(splits(), settings(), tmp_path / "stopped", resume=True)
    whole = train(splits(), settings())
    assert resumed.start == whole.start
    with torch.random.fork_rng(devices=[]):
        start = RetrievalTask(splits(), settings()).network
    assert resumed.start == evaluate(start, splits().validation, settings()).map
