"""Trainings in MLflow's file store, TensorBoard's event files and an offline run of W&B."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.tasks.ranking.cases import written
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.errors import UsageError
from rankwise.report.results import read_summary
from rankwise.training import Callback, Fitted, Record, Stage, Task, fit, tracking
from rankwise.training._tracking import TRACKING


class Line(Task[torch.Tensor]):
    monitor = "negative@error"

    def make_optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.network.parameters(), lr=0.1)

    def rate(self, step: int) -> float:
        return 0.1

    def batches(self, step: int):
        while True:
            yield torch.tensor([[1.0], [2.0]])

    def step_loss(self, batch, moment):
        return self.loss(self.network(batch), 3 * batch)

    def validate(self) -> dict[str, float]:
        error = -abs(self.network.weight.item() - 3)
        return {"negative@error": error, "undefined": float("nan")}


def train(out: Path, *, stop_at: int | None = None, resume: bool = False) -> Fitted:
    def make_task(place) -> Line:
        torch.manual_seed(0)
        network = torch.nn.Linear(1, 1, bias=False)
        record = Record({"optimizer": {"rate": 0.1}, "steps": 40})
        return Line(
            network, torch.nn.MSELoss(), [Stage(40, 10)], record=record, seed=0, place=place
        )

    def stop(validation) -> None:
        if validation.row["step"] == stop_at:
            raise KeyboardInterrupt

    callbacks = [Callback(on_validation=stop)]
    return fit(make_task, out, "line", resume=resume, callbacks=callbacks)[1]


def stopped_and_resumed(target: str, out: Path) -> Fitted:
    """Train until the second validation, before it is reported, and then to the end."""
    with pytest.raises(KeyboardInterrupt), tracking([target], out):
        train(out, stop_at=20)
    time.sleep(1.1)  # a folder of Weights & Biases has the second as its name
    with tracking([target], out):
        return train(out, resume=True)


@pytest.fixture(autouse=True)
def _mlflow_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")


def test_mlflow_file_store(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    target = f"file:{tmp_path}/mlruns"
    done = stopped_and_resumed(f"mlflow:{target}", tmp_path / "run")
    client = MlflowClient(target)
    experiment = client.get_experiment_by_name("rankwise")
    (run,) = client.search_runs([experiment.experiment_id])  # one, though it was resumed
    assert run.data.params == {"optimizer.rate": "0.1", "steps": "40"}
    assert run.info.status == "FINISHED"
    found = client.get_metric_history(run.info.run_id, "negative_at_error")
    expected = [(int(row["step"]), row["negative@error"]) for row in done.history]
    assert [(each.step, each.value) for each in found] == expected
    assert [row[0] for row in expected] == [10, 20, 30, 40]
    assert "undefined" not in run.data.metrics
    assert "metrics.csv" in [each.path for each in client.list_artifacts(run.info.run_id)]


def test_tensorboard_event_files(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    done = stopped_and_resumed("tensorboard", tmp_path / "run")
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    found = [(each.step, each.value) for each in events.Scalars("negative@error")]
    expected = [(row["step"], pytest.approx(row["negative@error"])) for row in done.history]
    assert found == expected
    (settings,) = events.Tensors("settings/text_summary")
    assert b"| optimizer.rate | 0.1 |" in settings.tensor_proto.string_val[0]


def records_of(path: Path) -> Iterator[bytes]:
    """Yield the records of a file of Weights & Biases: LevelDB's log format after 7 bytes."""
    content, place, held = path.read_bytes(), 7, b""
    while place + 7 <= len(content):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        size, kind = int.from_bytes(content[place + 4 : place + 6], "little"), content[place + 6]
        held += content[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (1, 4):  # a whole record, or the last part of one
            yield held
            held = b""


def test_wandb_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    from wandb.proto import wandb_internal_pb2 as proto

    done = stopped_and_resumed("wandb:mine", tmp_path / "run")
    expected = {int(row["step"]): row["negative@error"] for row in done.history}
    ends = time.monotonic() + 20  # its own process writes the files, after it was told to end
    rows: dict[int, float] = {}
    while rows != expected and time.monotonic() < ends:
        names = set()
        for path in (tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb"):
            for content in records_of(path):
                record = proto.Record()
                record.ParseFromString(content)
                if record.WhichOneof("record_type") == "run":
                    names.add((record.run.run_id, record.run.project))
                if record.WhichOneof("record_type") == "history":
                    items = {
                        i.key or "/".join(i.nested_key): i.value_json for i in record.history.item
                    }
                    rows[record.history.step.num] = json.loads(items["negative@error"])
    assert rows == expected
    ((run, project),) = names  # the same run, though it was resumed
    assert project == "mine"
    known = json.loads((tmp_path / "run" / TRACKING).read_text())
    assert known == {"step": 40, "runs": {"wandb:mine": run}}


@pytest.mark.parametrize("target", ["neptune", "mlflow:", ""])
def test_unknown_trackers_are_refused_before_the_training(target: str, tmp_path: Path) -> None:
    words = "--track must be one of mlflow, wandb, tensorboard"
    with pytest.raises(UsageError, match=words), tracking([target], tmp_path):
        pytest.fail("it has begun")


def test_a_tracker_that_refuses_is_reported_before_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE")
    target = f"mlflow:file:{tmp_path}/mlruns"
    with pytest.raises(UsageError, match="maintenance mode"), tracking([target], tmp_path):
        pytest.fail("it has begun")


def test_trackers_are_imported_only_when_asked_for() -> None:
    program = "import sys, rankwise.training as t; t.fit, t.tracking; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"mlflow", "wandb", "tensorboard"} & set(done.stdout.split())


def test_a_failed_training_is_marked(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    target = f"file:{tmp_path}/mlruns"
    with pytest.raises(KeyboardInterrupt), tracking([f"mlflow:{target}"], tmp_path / "run"):
        train(tmp_path / "run", stop_at=10)
    client = MlflowClient(target)
    (run,) = client.search_runs([client.get_experiment_by_name("rankwise").experiment_id])
    assert run.info.status == "FAILED"


def test_a_command_without_steps_reports_its_results(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    data = written(tmp_path / "train.txt", 24, seed=0)
    target, out = f"file:{tmp_path}/mlruns", tmp_path / "run"
    options = ["--model", "linear", "--out", str(out), "--track", f"mlflow:{target}"]
    done = CliRunner().invoke(app, ["rank", "train", str(data), *options])
    assert done.exit_code == 0, done.output
    client = MlflowClient(target)
    (run,) = client.search_runs([client.get_experiment_by_name("rankwise").experiment_id])
    assert run.data.params["model"] == "linear"
    known = json.loads((out / "results.json").read_text())["results"]["train"]
    assert run.data.metrics["train/ndcg_at_10"] == known["ndcg@10"]["value"]
    assert not any(name.startswith("test/") for name in run.data.metrics)  # there was no test
    kept = {each.path for each in client.list_artifacts(run.info.run_id)}
    assert {"index.html", "results.json", "config.json"} <= kept


def test_a_resumed_command_without_steps_continues_its_run(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(300, 2, generator=generator).tolist()
    lines = ["a,b,y", *(f"{a},{b},{int(a > 0.5)}" for a, b in rows)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    target = f"file:{tmp_path}/mlruns"
    call = ["compare", str(tmp_path / "rows.csv"), "--target", "y", "--out", str(tmp_path / "run")]
    call += ["--candidates", "linear:log_loss", "--trials", "1", "--budget", "10s"]
    for more in ([], ["--resume"], ["--resume"]):
        done = CliRunner().invoke(app, [*call, *more, "--track", f"mlflow:{target}"])
        assert done.exit_code == 0, done.output
    client = MlflowClient(target)
    (run,) = client.search_runs([client.get_experiment_by_name("rankwise").experiment_id])
    assert run.info.status == "FINISHED"
    known = json.loads((tmp_path / "run" / TRACKING).read_text())["runs"]
    assert known == {f"mlflow:{target}": run.info.run_id}


def test_models_that_were_compared_are_metrics_of_their_own(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(300, 2, generator=generator).tolist()
    lines = ["a,b,y", *(f"{a},{b},{int(a + b > 1)}" for a, b in rows)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    target, out = f"file:{tmp_path}/mlruns", tmp_path / "run"
    call = ["compare", str(tmp_path / "rows.csv"), "--target", "y", "--out", str(out)]
    call += ["--candidates", "linear", "--trials", "1", "--budget", "10s"]
    done = CliRunner().invoke(app, [*call, "--track", f"mlflow:{target}"])
    assert done.exit_code == 0, done.output
    client = MlflowClient(target)
    (run,) = client.search_runs([client.get_experiment_by_name("rankwise").experiment_id])
    summary = read_summary(out)
    assert summary is not None
    assert summary.compared
    known = {"test/ap": summary.results[0].value}
    for name, (result,) in summary.compared.items():
        known[f"test/{name}/ap".replace(",", "_").replace("+", "_")] = result.value
    assert run.data.metrics == known


def test_a_server_that_does_not_answer_is_reported_within_seconds(tmp_path: Path) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        target = f"mlflow:http://127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(UsageError, match="--track mlflow:http"), tracking([target], tmp_path):
            pytest.fail("it has begun")
    assert time.monotonic() - began < 30
    assert "MLFLOW_HTTP_REQUEST_MAX_RETRIES" not in os.environ


def test_one_string_is_no_list_of_trackers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"pass \['mlflow'\]"), tracking("mlflow", tmp_path):
        pytest.fail("it has begun")


def test_every_training_command_has_the_option() -> None:
    for command in (["compare"], ["rank", "train"], ["classify", "train"], ["recommend", "train"]):
        shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"}).output
        assert "--track" in shown
