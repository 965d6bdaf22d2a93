from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.tasks.classification.cases import settings, splits
from tests.tasks.retrieval.cases import states_equal
from tests.training.processes import run_two

from rankwise.tasks.classification.task import ClassificationTask, ShuffledBatches, train
from rankwise.training import Learner
from rankwise.vision.image_dataset import ImageBatch


def work(rank: int, folder: str, *changes: str) -> None:
    """Called in two processes."""
    losses: list[float] = []
    found = train(
        splits(),
        settings(*changes),
        Path(folder) / "run",
        on_step=lambda step: losses.append(step.loss),
    )
    state = {"network": found.network.state_dict(), "history": found.history, "losses": losses}
    torch.save(state, Path(folder) / f"{rank}.pt")


@pytest.mark.parametrize("name", ["soap", "soprc"])
def test_two_processes_train_on_their_batches_together(tmp_path, name):
    changes = [
        'network.options={"width": 8, "norm": "group"}',
        f"objective.name={name}",
        "batches.size=6",
        "augmentations.resize=8",  # nothing random: each process would draw its own
        "augmentations.flip=false",
        "optimizer.name=sgd",
        "training.steps=2",
        "training.validate_every=2",
    ]
    run_two("tests.tasks.classification.test_processes", "work", str(tmp_path), *changes)
    one, other = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert one["history"] == other["history"]
    assert states_equal(one["network"], other["network"])

    chosen, parts = settings(*changes), splits()
    with torch.random.fork_rng(devices=[]):
        task = ClassificationTask(parts, chosen)
        learner, pictures = Learner(task), task.dataset
        plans = [list(ShuffledBatches(24, 6, rank=r, world_size=2)) for r in range(2)]
        losses = []
        for rows in zip(*plans, strict=True):
            together = torch.tensor([row for batch in rows for row in batch])
            batch = ImageBatch([pictures[i] for i in together.tolist()], together)
            losses.append(learner.step(batch))
    assert one["losses"] == pytest.approx(losses, rel=1e-4)
    for key, value in task.network.state_dict().items():
        torch.testing.assert_close(one["network"][key], value, rtol=1e-4, atol=1e-5)
