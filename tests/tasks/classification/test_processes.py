from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.tasks.classification.cases import settings, splits
from tests.tasks.retrieval.cases import states_equal

from rankwise.tasks.classification.batches import ShuffledBatches
from rankwise.tasks.classification.learner import Learner
from rankwise.tasks.retrieval.pictures import Batch, Pictures

WORKER = Path(__file__).parent / "worker.py"


@pytest.mark.parametrize("name", ["soap", "soprc"])
def test_two_processes_train_on_their_batches_together(tmp_path, name):
    changes = [
        'network.options={"width": 8, "norm": "group"}',
        f"objective.name={name}",
        "batches.size=6",
        "views.resize=8",  # nothing random: each process would draw its own
        "views.flip=false",
        "optimiser.name=sgd",
        "training.steps=2",
        "training.validate_every=2",
    ]
    done = subprocess.run(
        [sys.executable, str(WORKER), str(tmp_path), *changes],
        capture_output=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr.decode()
    one, other = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert one["history"] == other["history"]
    assert states_equal(one["network"], other["network"])

    chosen, parts = settings(*changes), splits()
    pictures = Pictures(parts.train.images, chosen.views)
    with torch.random.fork_rng(devices=[]):
        learner = Learner(parts.train, pictures, chosen, steps_per_epoch=2)
        plans = [list(ShuffledBatches(24, 6, rank=r, world_size=2)) for r in range(2)]
        losses = []
        for rows in zip(*plans, strict=True):
            together = torch.tensor([row for batch in rows for row in batch])
            batch = Batch([pictures[i] for i in together.tolist()], together)
            losses.append(learner.step(batch))
    assert one["losses"] == pytest.approx(losses, rel=1e-4)
    for key, value in learner.network.state_dict().items():
        torch.testing.assert_close(one["network"][key], value, rtol=1e-4, atol=1e-5)
