from __future__ import annotations

import csv
import math
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.tasks.classification.cases import TWO, settings, splits
from tests.tasks.retrieval.cases import states_equal

from rankwise.errors import UsageError
from rankwise.tasks.classification.evaluate import evaluate
from rankwise.tasks.classification.task import train
from rankwise.training import Step

KILLED = """
import os, signal, sys
from pathlib import Path
import torch
sys.path.insert(0, sys.argv[1])
from tests.tasks.classification.cases import TWO, settings, splits
from rankwise.tasks.classification.task import train

torch.set_num_threads(1)

def stop(step):
    if step.step == 5:
        os.kill(os.getpid(), signal.SIGKILL)

train(splits(TWO), settings(*sys.argv[3:]), Path(sys.argv[2]), on_step=stop)
"""
EVERYTHING = (  # state of every kind: batch norm, momentum, a mean, previous parameters
    "objective.name=stable_ap",
    "objective.previous=true",
    "objective.warm_start=1",
    "batches.positives=4",
    "optimizer.name=sgd",
    "optimizer.milestones=[3]",
)
ROOT = Path(__file__).parents[3]
RUINED = (
    "optimizer.name=sgd",
    "optimizer.learning_rate=0.1",
    "optimizer.momentum=0",
    "optimizer.weight_decay=9",
)


def stop(step: Step) -> None:
    if step.step == 5:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("changes", "counts", "kill"),
    [
        (EVERYTHING, TWO, True),
        (("objective.name=soap",), (12, 8, 4), False),
        (("objective.name=ldam(defer=2)", "batches.per_class=4"), (12, 8, 4), False),
    ],
    ids=["killed", "memory by image", "deferred weights"],
)
def test_a_run_that_was_killed_ends_as_if_it_was_not(tmp_path, changes, counts, kill):
    parts = splits(counts)
    if kill:
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(ROOT), str(tmp_path / "killed"), *changes],
            capture_output=True,
            check=False,
        )
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    else:
        with pytest.raises(KeyboardInterrupt):
            train(parts, settings(*changes), tmp_path / "killed", on_step=stop)
    seen: list[Step] = []
    resumed = train(
        parts, settings(*changes), tmp_path / "killed", resume=True, on_step=seen.append
    )
    assert [step.step for step in seen] == [5, 6]  # from the validation after step 4
    whole = train(parts, settings(*changes), tmp_path / "whole")
    assert states_equal(resumed.network.state_dict(), whole.network.state_dict())
    assert states_equal(resumed.last, whole.last)
    assert resumed.history == whole.history
    states = [
        torch.load(tmp_path / name / "checkpoint.pt", weights_only=True)
        for name in ("killed", "whole")
    ]
    assert states_equal(*(state["loss"] for state in states))


def test_other_settings_and_other_images_are_not_resumed(tmp_path):
    train(splits(), settings(), tmp_path)
    with pytest.raises(UsageError, match=r"training\.steps was 6 and is 9"):
        train(splits(), settings("training.steps=9"), tmp_path, resume=True)
    with pytest.raises(UsageError, match="other training data"):
        train(splits((12, 7, 4)), settings(), tmp_path, resume=True)


def test_history_and_callers_random_numbers(tmp_path):
    torch.manual_seed(5)
    state = torch.get_rng_state()
    found = train(splits(), settings(), tmp_path)
    assert torch.equal(torch.get_rng_state(), state)
    assert [row["step"] for row in found.history] == [2, 4, 6]
    rows = list(csv.DictReader((tmp_path / "metrics.csv").read_text().splitlines()))
    assert [float(row["map"]) for row in rows] == [row["map"] for row in found.history]
    best = max(row["map"] for row in found.history)
    judged = evaluate(found.network, splits().validation, settings())
    assert judged.map == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("several", [False, True])
def test_it_learns(several):
    chosen = settings("training.steps=60", "training.validate_every=20", "objective.warm_start=5")
    parts = splits(several=several)
    found = train(parts, chosen)
    judged = evaluate(found.network, parts.test, chosen)
    assert judged.map > 0.75  # at random it is about .33
    assert math.isnan(judged.top_1) == several


def test_without_validation_the_last_network_is_kept():
    parts = splits()
    parts = replace(parts, validation=parts.validation.subset([]))
    found = train(parts, settings())
    assert found.best_step == 6
    assert "map" not in found.history[-1]
    assert states_equal(found.last, found.network.state_dict())
    with pytest.raises(UsageError, match=r"training\.patience needs validation images"):
        train(parts, settings("training.patience=1"))


def test_where_nothing_is_better_than_the_start_the_start_is_kept():
    """A weight decay this high leaves nothing of a network."""
    found = train(splits(), settings(*RUINED, "training.seed=3"))  # starts better than chance
    best = max(row["map"] for row in found.history)
    assert found.start > best
    assert found.best_step == 0
