from __future__ import annotations

import json
import shutil

import pytest
from PIL import Image
from tests.tasks.classification.cases import SMALL, images
from typer.testing import CliRunner

from rankwise.cli import app as whole
from rankwise.commands.classify import app
from rankwise.tasks.classification.settings import Settings
from rankwise.training import RunFolder

RUN = CliRunner()


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def data(tmp_path):
    """A folder of images by class, and a config."""
    known = images("class", (20, 10, 10))
    for row, label in enumerate(known.target.tolist()):
        path = tmp_path / "images" / f"class{label}" / f"{row}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(known.images.load(row).permute(1, 2, 0).numpy()).save(path)
    (tmp_path / "config.yaml").write_text(Settings.changed(SMALL, ["data.kind=folder"]).as_yaml())
    return tmp_path


def train(data, *more: str):
    arguments = ["train", str(data / "config.yaml"), "--root", str(data / "images")]
    return RUN.invoke(app, [*arguments, "--out", str(data / "run"), *more])


def test_train_and_evaluate(data):
    done = train(data, "--set", "objective.name=stable_ap", "--set", "objective.warm_start=2")
    assert done.exit_code == 0, done.output
    for words in ("untrained", "stable_ap, last step", "kept: the network after step"):
        assert words in done.output
    results = json.loads((data / "run/results.json").read_text())["stable_ap"]
    assert f"{results['map']:.4f}" in done.output
    judged = RUN.invoke(app, ["evaluate", str(data / "run"), "--out", str(data / "all.json")])
    assert judged.exit_code == 0, judged.output
    assert "class2" in judged.output
    assert json.loads((data / "all.json").read_text()) == results
    other = RUN.invoke(app, ["evaluate", str(data / "run"), "--part", "validation"])
    assert other.exit_code == 0
    assert "4 images" in other.output


def test_a_run_goes_on_with_resume_only(data):
    assert train(data).exit_code == 0
    again = train(data)
    assert again.exit_code == 2
    assert "already holds a run; pass --resume" in again.output
    assert train(data, "--resume").exit_code == 0


def test_a_run_is_not_resumed_on_changed_images_but_on_a_copy_of_them(data):
    assert train(data).exit_code == 0
    shutil.copytree(data / "images", data / "copy", copy_function=shutil.copyfile)
    assert train(data, "--root", str(data / "copy"), "--resume").exit_code == 0
    for path in (data / "copy").rglob("*.png"):
        with Image.open(path) as image:
            image.rotate(90).save(path)
    refused = train(data, "--root", str(data / "copy"), "--resume")
    assert refused.exit_code == 2
    assert "contents of its images are not those it was started with" in refused.stderr


def test_the_threads_of_a_run_are_recorded_and_another_number_is_said(data):
    assert train(data, "--threads", "2", "--deterministic").exit_code == 0
    about = json.loads((data / "run" / "run.json").read_text())
    assert (about["threads"], about["deterministic"]) == (2, True)
    again = train(data, "--resume")
    assert again.exit_code == 0
    assert "threads" not in again.stderr
    other = train(data, "--resume", "--threads", "1")
    assert other.exit_code == 0
    assert "resumed with 1 threads, the run was started with 2" in other.stderr


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--set", "training.stepps=3"], "training.stepps: there is no such setting; did you mean"),
        (["--set", "objective.name=soprk"], "objective.name: "),
        (["--set", "data.kind=sop"], "data.kind must be one of cifar"),
        (["--set", "data.positive=[cow]"], "there is no class cow"),
        (["--set", "batches.positives=3"], "batches.positives is for two classes"),
        (["--root", "nowhere"], "nowhere"),
    ],
)
def test_wrong_usage_is_one_line_and_2(data, more, message):
    done = train(data, *more)
    assert done.exit_code == 2, done.output
    assert message in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.output
    assert not (data / "run" / "checkpoint.pt").exists()


def test_what_is_not_there_is_one_line_and_2(data):
    for arguments, message in (
        (["train", "medmnistt"], "did you mean medmnist"),
        (["train", "medmnist"], "data.root must say where the images are"),
        (["evaluate", str(data)], "there is no model.safetensors"),
        (["evaluate", str(data), "--part", "tests"], "--part must be one of test, validation"),
    ):
        done = RUN.invoke(app, arguments)
        assert done.exit_code == 2, done.output
        assert message in done.output


def test_names_of_the_configurations():
    done = RUN.invoke(whole, ["classify", "configs"])
    assert done.exit_code == 0
    assert "cifar10_lt" in done.output.splitlines()


def test_stopped_by_hand_it_says_how_to_go_on(data, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankwise.tasks.classification.pipeline.run", stop)
    done = train(data)
    assert done.exit_code == 1
    assert "the same command with --resume continues" in done.output


def test_the_run_of_another_command_is_left_alone(data):
    with RunFolder(data / "run", "compare").opened():
        (data / "run/config.json").write_text('{"command": "rankwise compare"}')
        (data / "run/results.json").write_text("{}")
    for more in ([], ["--resume"]):
        done = train(data, *more)
        assert done.exit_code == 2
        last = done.output.strip().splitlines()[-1]
        assert "holds a run of rankwise compare, not of rankwise classify; pass another" in last
    assert (data / "run/results.json").read_text() == "{}"


def test_a_wrong_setting_does_not_take_the_folder(data):
    assert train(data, "--set", "objective.name=soprk").exit_code == 2
    assert train(data).exit_code == 0


@pytest.mark.parametrize("out", ["config.yaml", "/proc/rankwise"])
def test_a_folder_that_cannot_be_is_one_line_and_2(data, out):
    done = train(data, "--out", str(data / out))
    assert done.exit_code == 2
    assert "--out must be a folder" in done.output
    assert len(done.output.strip().splitlines()) == 1


@pytest.mark.parametrize("name", ["training.seed", "data.seed"])
def test_a_seed_that_is_too_large_leaves_nothing(data, name):
    done = train(data, "--set", f"{name}={'9' * 23}")
    assert done.exit_code == 2
    assert f"{name} must be a whole number from 0 to 4294967295" in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not (data / "run").exists()


def test_the_settings_are_not_written_over(data):
    before = (data / "config.yaml").read_bytes()
    done = train(data, "--out", str(data))
    assert done.exit_code == 2
    assert "config.yaml in --out must be another file than" in done.output
    assert (data / "config.yaml").read_bytes() == before
