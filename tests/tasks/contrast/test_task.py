from __future__ import annotations

import itertools
import math
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.tasks.contrast.cases import SETTINGS, images
from tests.training.processes import run_processes

from rankwise.errors import UsageError
from rankwise.tasks.contrast.task import ContrastNet, ContrastTask, read_images, train
from rankwise.training import Place, Step, Trainer

KILLED = """
import os, signal, sys
from pathlib import Path
from rankwise.tasks.contrast.task import read_images
from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.task import train
import torch

torch.set_num_threads(1)

def stop(step):
    if (step.epoch, step.step_of_epoch) == (3, 2):
        os.kill(os.getpid(), signal.SIGKILL)

settings = Settings(batch=8, epochs=4, width=2, dimension=4, temperature=0.3, learning_rate=0.01)
train(read_images(Path(sys.argv[1])), settings, Path(sys.argv[2]), on_step=stop)
"""


@pytest.mark.parametrize("objective", ["global_contrastive", "nt_xent"])
@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_the_loss_falls(tmp_path, objective, optimizer):
    settings = SETTINGS.replace(objective=objective, optimizer=optimizer, epochs=8)
    history = train(images(tmp_path), settings).history
    losses = [row["loss"] for row in history]
    assert sum(losses[-2:]) / 2 < losses[0] - 0.02


def test_a_killed_run_resumes_to_the_same_bits(tmp_path):
    data, settings = images(tmp_path), SETTINGS.replace(epochs=4)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "stripes.npz"), str(tmp_path / "run")]
    process = subprocess.run(command, check=False, timeout=100, capture_output=True, text=True)
    assert process.returncode == -signal.SIGKILL, process.stderr
    seen: list[Step] = []
    resumed = train(data, settings, tmp_path / "run", resume=True, on_step=seen.append)
    assert seen[0].epoch == 3  # the epoch that was cut off starts again
    straight = train(data, settings, tmp_path / "straight")
    assert resumed.history == straight.history
    for name, value in straight.network.state_dict().items():
        assert torch.equal(resumed.network.state_dict()[name], value), name
    written = [(tmp_path / run / "metrics.csv").read_text() for run in ("run", "straight")]
    assert written[0] == written[1]


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    data = images(tmp_path)
    first = train(data, SETTINGS, tmp_path / "run")
    seen: list[Step] = []
    again = train(data, SETTINGS, tmp_path / "run", resume=True, on_step=seen.append)
    assert seen == []
    assert again.history == first.history


def test_seeds_decide_and_the_callers_random_numbers_are_left_alone(tmp_path):
    data = images(tmp_path)
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first, same = train(data, SETTINGS), train(data, SETTINGS)
    assert torch.equal(torch.get_rng_state(), state)
    assert first.history == same.history
    assert train(data, SETTINGS.replace(seed=1)).history != first.history


def test_every_step_is_reported_and_the_rate_follows_a_cosine(tmp_path):
    data, seen = images(tmp_path), []
    history = train(data, SETTINGS, on_step=seen.append).history
    places = [(s.epoch, s.step_of_epoch) for s in seen]
    assert places == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert [s.step for s in seen] == [1, 2, 3, 4, 5, 6]
    assert history[0]["loss"] == pytest.approx(sum(s.loss for s in seen[:3]) / 3)
    rates = [row["learning_rate"] for row in history]
    assert rates == pytest.approx(
        [0.01 * (1 + math.cos(math.pi * step / 6)) / 2 for step in (2, 5)]
    )


def test_a_batch_larger_than_the_data_is_refused(tmp_path):
    with pytest.raises(UsageError, match="batch must be at most the 24 training images, got 32"):
        train(images(tmp_path), SETTINGS.replace(batch=32))


def test_other_images_are_not_a_continuation(tmp_path):
    train(images(tmp_path), SETTINGS, tmp_path / "run")
    other = images(tmp_path)
    other = other._replace(x_train=255 - other.x_train)
    with pytest.raises(UsageError, match="other training data"):
        train(other, SETTINGS, tmp_path / "run", resume=True)


# Adam would turn rounding errors of a gradient of 0 into steps.
SGD = SETTINGS.replace(optimizer="sgd", learning_rate=0.1)


def work(rank: int, folder: str, batch: str) -> None:
    """Called in several processes."""
    settings = SGD.replace(batch=int(batch))
    trained = train(read_images(Path(folder) / "stripes.npz"), settings, Path(folder) / "run")
    state = {"network": trained.network.state_dict(), "history": trained.history}
    torch.save(state, Path(folder) / f"{rank}.pt")


class Joined(ContrastTask):
    """The batches of several processes in one, whose parts are augmented as each of them does."""

    def __init__(self, data, settings, processes):
        super().__init__(data, settings)
        self.processes = processes

    def two_views_of(self, batch):
        parts = []
        seed = int(torch.randint(2**62, ()))
        for rank, rows in enumerate(batch.chunk(self.processes)):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed + rank)
                parts.append(self.views(self.images.x_train[rows]).chunk(2))
        return torch.cat([view for views in zip(*parts, strict=True) for view in views])


@pytest.mark.parametrize("processes", [2, 3])
def test_processes_are_one_on_the_joined_batch(tmp_path, processes):
    """The loss, its memory and the batch norms, with augmentations."""
    data, size = images(tmp_path), 12 // processes
    run_processes(processes, "tests.tasks.contrast.test_task", "work", str(tmp_path), str(size))
    found = [torch.load(tmp_path / f"{r}.pt", weights_only=True) for r in range(processes)]
    for other in found[1:]:
        assert other["history"] == found[0]["history"]
        for name, value in found[0]["network"].items():
            assert torch.equal(other["network"][name], value), name
    with torch.random.fork_rng(devices=[]):
        task = Joined(data, SGD.replace(batch=12), processes)
        history = Trainer(task).fit().history
    assert [row["step"] for row in history] == [2, 4]  # 24 images, 12 a step
    for ours, theirs in zip(found[0]["history"], history, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-4)
    moved = 0.0
    start = ContrastTask(data, SETTINGS).network.state_dict()
    for name, value in task.network.state_dict().items():
        torch.testing.assert_close(found[0]["network"][name], value, rtol=1e-4, atol=1e-5)
        moved = max(moved, float((start[name] - value).abs().max()))
    assert moved > 1e-2
    state = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)
    assert (state["world_size"], state["joined_batch"]) == (processes, processes * size)


def test_every_image_is_in_one_batch_of_an_epoch(tmp_path):
    data, rows = images(tmp_path), []
    for rank in range(2):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            place = Place(rank=rank, world_size=2)
            task = ContrastTask(data, SETTINGS.replace(batch=4), place)
            rows.append(torch.cat(list(itertools.islice(task.batches(0), 3))))
    assert sorted(torch.cat(rows).tolist()) == list(range(24))


def test_shapes_of_features_and_embedding():
    network = ContrastNet(width=2, dimension=5)
    images = torch.rand(4, 3, 9, 12)
    assert network.features(images).shape == (4, 16)
    assert network(images).shape == (4, 5)


def test_mean_and_deviation_are_those_of_the_pixels():
    torch.manual_seed(0)
    pixels = torch.randint(0, 200, (7, 3, 8, 8), dtype=torch.uint8)
    network = ContrastNet(width=2)
    network.learn_statistics(pixels)
    channels = (pixels.double() / 255).transpose(0, 1).flatten(1)
    torch.testing.assert_close(network.mean.flatten().double(), channels.mean(1))
    expected = channels.std(1, correction=0)
    torch.testing.assert_close(network.deviation.flatten().double(), expected)
    assert {"mean", "deviation"} <= network.state_dict().keys()
