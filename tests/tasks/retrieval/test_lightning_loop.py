from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.tasks.retrieval.cases import settings, splits, states_equal

from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.learner import Learner
from rankwise.tasks.retrieval.lightning_loop import fit, wanted
from rankwise.tasks.retrieval.pictures import Batch, Pictures
from rankwise.tasks.retrieval.training import train

WORKER = Path(__file__).parent / "worker.py"


def test_lightnings_loop_takes_the_same_steps_to_the_last_bit(tmp_path):
    changes = ("objective.name=soprc", "mixup.stages=1")
    plain = train(splits(), settings(*changes), tmp_path / "plain")
    ours = train(splits(), settings(*changes), tmp_path / "lightning", loop=fit)
    assert ours.history == plain.history
    assert states_equal(ours.network.state_dict(), plain.network.state_dict())
    # A finished run is not taken up again.
    again = train(splits(), settings(*changes), tmp_path / "lightning", resume=True, loop=fit)
    assert states_equal(again.network.state_dict(), plain.network.state_dict())


def test_it_stops_where_patience_ends(monkeypatch):
    class Judged:
        map = 0.5

    monkeypatch.setattr("rankwise.tasks.retrieval.training.judge", lambda *_, **__: Judged())
    changes = ("training.validate_every=1", "training.patience=2")
    assert len(train(splits(), settings(*changes), loop=fit).history) == 3


def test_two_processes_train_on_their_batches_together(tmp_path):
    """DDP with the gathered loss and gradients in parts: one process with both batches in one."""
    changes = [
        'network.options={"width": 8, "norm": "group"}',
        "objective.name=soprc",
        "batches.chunk=2",
        "views.resize=8",  # nothing random: each process would draw its own
        "views.flip=false",
        "optimiser.name=sgd",
        "training.steps=3",
        "training.validate_every=3",
    ]
    done = subprocess.run(
        [sys.executable, str(WORKER), str(tmp_path), *changes],
        capture_output=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr.decode()
    one, other = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert one["history"] == other["history"]  # also the validation, which they share
    assert states_equal(one["network"], other["network"])

    chosen, parts = settings(*changes), splits()
    pictures = Pictures(parts.train, chosen.views)
    learner = Learner(pictures, chosen)
    samplers = [ClassBatches(pictures.labels, 3, 2, rank=r, world_size=2) for r in range(2)]
    plans = [[*sampler, *sampler][:3] for sampler in samplers]  # into the second epoch
    losses = []
    for rows in zip(*plans, strict=True):
        together = torch.tensor([row for batch in rows for row in batch])
        losses.append(learner.step(Batch([pictures[i] for i in together.tolist()], together)))
    assert one["losses"] == pytest.approx(losses, rel=1e-4)
    start = Learner(pictures, chosen).network.state_dict()
    last = torch.load(tmp_path / "checkpoint.pt", weights_only=True)["network"]
    for name, value in learner.network.state_dict().items():
        torch.testing.assert_close(last[name], value, rtol=1e-4, atol=1e-5)
    moved = max(float((last[n] - start[n]).abs().max()) for n in start)
    assert moved > 1e-2


def test_lightning_is_for_the_processes_of_torchrun(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert not wanted()
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert wanted()


def test_without_lightning_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning", None)
    line = r'needs lightning: pip install "rankwise\[integrations\]"'
    with pytest.raises(ImportError, match=line):
        train(splits(), settings(), loop=fit)
