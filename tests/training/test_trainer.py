from __future__ import annotations

import csv
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tests.training.killed import MOMENTS, TASKS
from tests.training.processes import launch, run_two
from tests.training.toy import Toy, equal, flat

from rankwise.errors import UsageError
from rankwise.training import Callback, Options, RunFolder, Stage, Step, Trainer, Validation, fit

KILLED = Path(__file__).parent / "killed.py"


@pytest.fixture(autouse=True)
def own_random_numbers():
    with torch.random.fork_rng(devices=[]):
        yield


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, str(KILLED), str(folder)], capture_output=True, check=False, timeout=180
    )
    assert done.returncode == 0, done.stderr.decode()
    return folder


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("task", TASKS)
def test_a_killed_run_resumes_to_the_same_bits(killed, tmp_path, task, moment):
    folder = killed / task / moment
    whole, course = fit(TASKS[task], tmp_path, "toy")
    seen: list[Step] = []
    again, resumed = fit(
        TASKS[task], folder, "toy", resume=True, callbacks=[Callback(on_step=seen.append)]
    )
    first = {"step 1": 1, "step 5": 5, "run.json 3": 3, "checkpoint.pt 1": 1}.get(moment, 3)
    assert [step.step for step in seen] == list(range(first, 7))
    assert resumed.history == course.history
    assert equal(again.network.state_dict(), whole.network.state_dict())
    assert equal(again.loss.state_dict(), whole.loss.state_dict())
    assert equal(resumed.last, course.last)
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".checkpoint")}
    assert names == {"run.json", "checkpoint.pt", "metrics.csv"}  # no lock
    assert (folder / "metrics.csv").read_text() == (tmp_path / "metrics.csv").read_text()


@pytest.mark.parametrize("resume_of_averages", [None, 0.3])
def test_ctrl_c_keeps_the_last_checkpoint_and_the_callers_random_numbers(
    tmp_path, resume_of_averages
):
    def make(place):
        options = Options(ema_rate=resume_of_averages)
        return Toy(seed=None, noise=0.1, options=options, place=place)

    def stop(step: Step) -> None:
        if step.step == 3:
            raise KeyboardInterrupt

    torch.manual_seed(5)
    state = torch.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        fit(make, tmp_path / "run", "toy", callbacks=[Callback(on_step=stop)])
    assert torch.equal(torch.get_rng_state(), state)
    again, resumed = fit(make, tmp_path / "run", "toy", resume=True)
    whole, course = fit(make, None, "toy")
    assert resumed.history == course.history
    assert equal(again.network.state_dict(), whole.network.state_dict())


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    first, course = fit(TASKS["by step"], tmp_path, "toy")
    seen: list[Step] = []
    again, resumed = fit(
        TASKS["by step"], tmp_path, "toy", resume=True, callbacks=[Callback(on_step=seen.append)]
    )
    assert not seen
    assert resumed.history == course.history
    assert equal(again.network.state_dict(), first.network.state_dict())


def test_every_validation_is_a_row_of_metrics_csv(tmp_path):
    _, fitted = fit(lambda place: Toy(stages=[Stage(5, 2)]), tmp_path, "toy")
    rows = list(csv.DictReader((tmp_path / "metrics.csv").read_text().splitlines()))
    assert [row["step"] for row in rows] == ["2", "4", "5"]  # the last step is validated
    assert list(rows[0]) == ["step", "loss", "learning_rate", "score", "mean"]
    assert [float(row["score"]) for row in rows] == [row["score"] for row in fitted.history]
    assert [float(row["learning_rate"]) for row in rows] == pytest.approx(
        [0.05 / 2, 0.05 / 4, 0.05 / 5]
    )


def test_patience_ends_a_training_and_the_best_network_is_kept():
    values = [0.1, 0.5, 0.3, 0.5, 0.4, 0.9]
    trainer = Trainer(Toy(stages=[Stage(9, 1, patience=3)], values=values))
    states = []
    on_step = Callback(on_step=lambda step: states.append(flat(trainer.task.network).clone()))
    trainer.callbacks = (on_step,)
    fitted = trainer.fit()
    assert len(fitted.history) == 5  # 0.5 again is no better
    assert (fitted.best_step, fitted.best_row, fitted.best_value) == (2, 2, 0.5)
    assert torch.equal(flat(trainer.task.network), states[1])
    assert not torch.equal(states[1], states[4])
    last = torch.cat([value.flatten() for value in fitted.last.values()])
    assert torch.equal(last, states[4])


def test_a_value_that_is_not_a_number_is_never_better_but_the_first_is_kept():
    fitted = Trainer(Toy(values=[math.nan, math.nan, math.nan])).fit()
    assert (fitted.best_step, fitted.best_value) == (2, -math.inf)
    assert Trainer(Toy(values=[math.nan, 0.1, math.nan])).fit().best_step == 4


@pytest.mark.parametrize(
    ("values", "step"),
    [([0.5, 0.1, 0.2, 0.3], 0), ([0.2, 0.2, 0.2, 0.1], 2), ([math.nan, 0.1, 0.1, 0.0], 2)],
    ids=["no better than before training", "as good as before training", "nothing to compare with"],
)
def test_the_start_is_kept_where_nothing_is_as_good(tmp_path, values, step):
    def make(place=None, skip=0):
        task = Toy(values=values[skip:])
        task.measures_start = True
        return task

    start = flat(make().network)
    task, fitted = fit(make, tmp_path, "toy")
    assert fitted.best_step == step
    assert torch.equal(flat(task.network), start) == (step == 0)
    assert fitted.start == pytest.approx(values[0], nan_ok=True)
    assert len(fitted.history) == 3
    _, again = fit(lambda place: make(skip=4), tmp_path, "toy", resume=True)
    assert again.start == pytest.approx(values[0], nan_ok=True)
    assert again.best_step == step


def test_without_measures_the_last_network_is_kept(tmp_path):
    task, fitted = fit(lambda place: Toy(measured=False), tmp_path, "toy")
    assert fitted.best_step == 6
    assert equal(task.network.state_dict(), fitted.last)
    state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert state["best"]["network"] == {}  # it is the network itself


def test_callbacks_come_after_the_validation():
    order: list[tuple[str, float]] = []

    def on_step(step: Step) -> None:
        order.append(("step", step.value))

    def on_validation(validation: Validation) -> None:
        order.append(("better" if validation.best else "worse", validation.row["score"]))

    Trainer(Toy(values=[0.2, 0.1, 0.3]), callbacks=[Callback(on_step, on_validation)]).fit()
    assert order[1:] == [
        ("better", 0.2),
        ("step", 0.2),
        ("step", 0.2),
        ("worse", 0.1),
        ("step", 0.1),
        ("step", 0.1),
        ("better", 0.3),
        ("step", 0.3),
    ]
    assert math.isnan(order[0][1])


class Staged(Toy):
    counts_epochs = True

    def begin(self, stage: int) -> None:
        self.started = [*getattr(self, "started", []), (stage, flat(self.network).clone())]
        self.top = 0.05 / (1 + stage)


@pytest.mark.parametrize("stop_at", [1, 3, 5, 6, 7])
def test_a_stage_starts_from_the_best_network_and_resumes_to_the_same_bits(tmp_path, stop_at):
    def make(place=None):
        values = [0.1, 0.5, 0.3, 0.2, 0.6, 0.4, 0.3]
        return Staged(stages=[Stage(8, 2, patience=1), Stage(4, 1, patience=3)], values=values)

    def stop(step: Step) -> None:
        if step.step == stop_at:
            raise KeyboardInterrupt

    whole = Trainer(make())
    course = whole.fit()
    assert [row["epoch"] for row in course.history] == [1, 2, 3, 4, 5, 6, 7]
    assert [row["step"] for row in course.history] == [2, 4, 6, 7, 8, 9, 10]
    assert course.best_row == 5
    with pytest.raises(KeyboardInterrupt):
        fit(make, tmp_path, "toy", callbacks=[Callback(on_step=stop)])
    done = {1: 0, 3: 1, 5: 2, 6: 3, 7: 4}[stop_at]
    rest = make()
    rest.values = iter([0.1, 0.5, 0.3, 0.2, 0.6, 0.4, 0.3][done:])
    again, resumed = fit(lambda place: rest, tmp_path, "toy", resume=True)
    assert resumed.history == course.history
    assert equal(again.network.state_dict(), whole.task.network.state_dict())
    assert torch.equal(again.started[-1][1], whole.task.started[-1][1]) or stop_at > 5


def train_in_folder(rank: int, folder: Path, size: int, chunk: int | None) -> None:
    task, fitted = fit(
        lambda place: Toy(size=size, chunk=chunk, place=place), folder / "run", "toy"
    )
    found = {"network": fitted.last, "history": fitted.history, "loss": task.loss.state_dict()}
    torch.save(found, folder / f"{rank}.pt")


def work(rank: int, folder: str) -> None:
    """Called in two processes, with 4 rows each; what is asserted here fails the launch."""
    for chunk in (None, 2):
        train_in_folder(rank, Path(folder) / str(chunk), 4, chunk)

    def stop(step: Step) -> None:
        if step.step == 3:
            raise KeyboardInterrupt

    def make(place):
        return Toy(size=4, seed=None, noise=0.1, place=place)

    out = Path(folder) / "stopped"
    with pytest.raises(KeyboardInterrupt):
        fit(make, out, "toy", callbacks=[Callback(on_step=stop)])
    _, resumed = fit(make, out, "toy", resume=True)
    _, whole = fit(make, None, "toy")
    assert resumed.history == whole.history
    assert equal(resumed.last, whole.last)

    def alone(place):
        task = Toy(place=place)
        task.joins_processes = False
        return task

    with pytest.raises(UsageError, match="trains in one process, got 2; start it without torchrun"):
        fit(alone, None, "toy")


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    for chunk in (None, 2):
        (folder / str(chunk)).mkdir()
    run_two("tests.training.test_trainer", "work", str(folder))
    return folder


@pytest.mark.parametrize("chunk", [None, 2])
def test_two_processes_are_one_on_the_joined_batch(two_processes, tmp_path, chunk):
    folder = two_processes / str(chunk)
    train_in_folder(0, tmp_path, 8, chunk)
    alone = torch.load(tmp_path / "0.pt", weights_only=True)
    one, other = (torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert one["history"] == other["history"]
    assert equal(one["network"], other["network"])
    for name, value in alone["network"].items():
        torch.testing.assert_close(one["network"][name], value, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(one["loss"]["shift"], alone["loss"]["shift"], rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(one["history"], alone["history"], strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
    state = torch.load(folder / "run" / "checkpoint.pt", weights_only=True)
    assert (state["world_size"], state["joined_batch"]) == (2, 8)


def test_a_run_of_two_processes_is_not_resumed_by_one(two_processes):
    with (
        RunFolder(two_processes / "None" / "run", "toy").opened(resume=True) as folder,
        pytest.raises(UsageError, match="another world size: it was 2 and is 1"),
    ):
        Trainer(Toy(size=4), folder=folder).fit(resume=True)


def die(rank: int, folder: str) -> None:
    """Called in three processes, of which one is killed after its second step."""

    def stop(step: Step) -> None:
        if (rank, step.step) == (1, 2):
            (Path(folder) / "killed").write_text(str(time.time()))
            os.kill(os.getpid(), signal.SIGKILL)

    fit(lambda place: Toy(place=place), Path(folder) / "run", "toy", callbacks=[Callback(stop)])


def test_all_processes_end_within_seconds_where_one_is_killed(tmp_path):
    done = launch(3, "tests.training.test_trainer", "die", str(tmp_path))
    assert done.returncode != 0
    assert time.time() - float((tmp_path / "killed").read_text()) < 10
    assert not (tmp_path / "run" / ".lock").exists()  # the folder is free for the next one
