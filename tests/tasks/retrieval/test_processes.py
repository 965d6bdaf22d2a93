from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.tasks.retrieval.cases import settings, splits, states_equal
from tests.training.processes import run_two

from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.task import RetrievalTask, train
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


def test_two_processes_train_on_their_batches_together(tmp_path):
    """The gathered loss with gradients in parts: one process with both batches in one."""
    changes = [
        'network.options={"width": 8, "norm": "group"}',
        "objective.name=soprc",
        "batches.chunk=2",
        "augmentations.resize=8",  # nothing random: each process would draw its own
        "augmentations.flip=false",
        "optimizer.name=sgd",
        "training.steps=3",
        "training.validate_every=3",
    ]
    run_two("tests.tasks.retrieval.test_processes", "work", str(tmp_path), *changes)
    one, other = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert one["history"] == other["history"]  # also the validation, which they share
    assert states_equal(one["network"], other["network"])

    chosen, parts = settings(*changes), splits()
    task = RetrievalTask(parts, chosen)
    learner, pictures = Learner(task), task.dataset
    samplers = [ClassBatches(pictures.labels, 3, 2, rank=r, world_size=2) for r in range(2)]
    plans = [[*sampler, *sampler][:3] for sampler in samplers]  # into the second epoch
    losses = []
    for rows in zip(*plans, strict=True):
        together = torch.tensor([row for batch in rows for row in batch])
        losses.append(learner.step(ImageBatch([pictures[i] for i in together.tolist()], together)))
    assert one["losses"] == pytest.approx(losses, rel=1e-4)
    last = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)["network"]
    start = RetrievalTask(parts, chosen).network.state_dict()
    for name, value in task.network.state_dict().items():
        torch.testing.assert_close(last[name], value, rtol=1e-4, atol=1e-5)
    moved = max(float((last[n] - start[n]).abs().max()) for n in start)
    assert moved > 1e-2
