from __future__ import annotations

import json
import re

import numpy as np
import pytest
from PIL import Image
from tests.tasks.retrieval.cases import SMALL, images
from typer.testing import CliRunner

from rankwise.commands.retrieval import app
from rankwise.data.images import BrokenImage, ImageSet, open_images
from rankwise.tasks.retrieval.settings import Settings

RUN = CliRunner()


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def data(tmp_path):
    """A folder of images by class, and a config."""
    known = images("class", 12)
    for row, label in enumerate(known.labels.tolist()):
        path = tmp_path / "images" / f"class{label:02}" / f"{row}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(known.load(row).permute(1, 2, 0).numpy()).save(path)
    changes = ["data.kind=folder", "data.validation_share=0.3"]
    (tmp_path / "config.yaml").write_text(Settings.changed(SMALL, changes).as_yaml())
    return tmp_path


def train(data, *more: str):
    arguments = ["train", str(data / "config.yaml"), "--root", str(data / "images")]
    return RUN.invoke(app, [*arguments, "--out", str(data / "run"), *more])


def test_train_evaluate_index_search(data):
    done = train(data, "--set", "training.steps=4")
    assert done.exit_code == 0, done.output
    for words in ("untrained", "R@1", "kept: the network after step", str(data / "run/index.html")):
        assert words in done.output
    results = json.loads((data / "run/results.json").read_text())["ap"]["test"]
    assert f"{results['map']:.4f} ±" in done.output

    judged = RUN.invoke(app, ["evaluate", str(data / "run"), "--out", str(data / "all.json")])
    assert judged.exit_code == 0, judged.output
    assert f"{results['map']:.4f} ±" in judged.output
    assert json.loads((data / "all.json").read_text())["test"] == results
    other = RUN.invoke(app, ["evaluate", str(data / "run"), "--part", "validation"])
    assert "validation" in other.output

    indexed = RUN.invoke(app, ["index", str(data / "run"), "--images", str(data / "images")])
    assert indexed.exit_code == 0, indexed.output
    assert "48 images, 6 dimensions" in indexed.output
    asked = sorted((data / "images/class03").iterdir())[0]
    found = RUN.invoke(app, ["search", str(asked), "--run", str(data / "run"), "--top", "3"])
    assert found.exit_code == 0, found.output
    first = next(line for line in found.output.splitlines() if line.split()[:1] == ["1"])
    assert re.match(r"1\s+1\.0000\s+class03\s+.*" + re.escape(asked.name), first.strip())
    assert "of 48 images, by cosine" in found.output

    cells = RUN.invoke(app, ["index", str(data / "run"), "--approximate"])
    assert cells.exit_code == 0, cells.output
    assert re.search(r"looks into \d+ of \d+ cells: recall@10 [01]\.\d{4} ± ", cells.output)
    for more, words in (([], "; looked for in"), (["--exact"], "images, by cosine\n")):
        found = RUN.invoke(app, ["search", str(asked), "--run", str(data / "run"), *more])
        assert found.exit_code == 0, found.output
        assert words in found.output

    again = RUN.invoke(app, ["index", str(data / "run"), "--out", str(data / "test.npz")])
    assert again.exit_code == 0, again.output
    assert len(np.load(data / "test.npz")["paths"]) == results["gallery"]


def test_a_run_goes_on_with_resume_only(data):
    assert train(data).exit_code == 0
    again = train(data)
    assert again.exit_code == 2
    assert "already holds a run; pass --resume" in again.output
    assert train(data, "--resume").exit_code == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--set", "training.stepps=3"], "training.stepps: there is no such setting; did you mean"),
        (["--set", "objective.name=soprk"], "objective.name: "),
        (["--set", "data.kind=sops"], "data.kind must be one of sop, vehicleid"),
        (["--set", "data.test_share=1.5"], "data.test_share must be in (0, 1), got 1.5"),
        (["--set", "data.split=half"], "data.split must be one of classes, images"),
        (["--root", "nowhere"], "nowhere"),
    ],
)
def test_wrong_usage_is_one_line_and_2(data, more, message):
    done = train(data, *more)
    assert done.exit_code == 2, done.output
    lines = done.stderr.strip().splitlines()
    assert message in lines[-1]
    assert "Traceback" not in done.output
    assert not (data / "run" / "checkpoint.pt").exists()


def test_what_is_not_there_is_one_line_and_2(data):
    for arguments, message in (
        (["train", "omniglott"], "did you mean omniglot"),
        (["train", "omniglot"], "data.root must say where the images are"),
        (["evaluate", str(data)], "there is no model.safetensors"),
        (["search", str(data / "config.yaml"), "--run", str(data)], "there is no model.safetens"),
    ):
        done = RUN.invoke(app, arguments)
        assert done.exit_code == 2, done.output
        assert message in done.output
        assert len(done.output.strip().splitlines()) == 1


def test_parts_and_images_that_are_none(data):
    train(data)
    done = RUN.invoke(app, ["evaluate", str(data / "run"), "--part", "tests"])
    assert done.exit_code == 2
    assert "--part must be one of test, validation, train, got 'tests'" in done.output
    RUN.invoke(app, ["index", str(data / "run")])
    done = RUN.invoke(app, ["search", str(data / "config.yaml"), "--run", str(data / "run")])
    assert done.exit_code == 2
    assert "config.yaml: is not an image" in done.output


def test_an_image_that_breaks_while_training_is_skipped_on_request(data, monkeypatch):
    """It was whole when the data set was opened."""
    whole = open_images("folder", data / "images", validation_share=0.3)
    bad = whole.train.paths[1]
    load = ImageSet.load

    def broken(self, i):
        if self.paths[i] == bad:
            raise BrokenImage(bad, "cannot be read: the disk is gone")
        return load(self, i)

    monkeypatch.setattr(ImageSet, "load", broken)
    done = train(data)
    assert done.exit_code == 2
    assert f"{bad}: cannot be read: the disk is gone" in done.stderr.strip().splitlines()[-1]
    done = train(data, "--skip-broken", "--resume")
    assert done.exit_code == 0, done.output
    assert done.output.count(f"{bad}: cannot be read: the disk is gone; left out") == 1


def test_names_of_the_configurations():
    done = RUN.invoke(app, ["configs"])
    assert done.exit_code == 0
    assert "sop" in done.output.splitlines()


def test_stopped_by_hand_it_says_how_to_go_on(data, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankwise.tasks.retrieval.pipeline.run", stop)
    done = train(data)
    assert done.exit_code == 1
    assert "the same command with --resume continues" in done.output


def photos(root, classes: int, per_class: int):
    """A folder of images as anybody has one."""
    known = images("class", classes, per_class)
    for row, label in enumerate(known.labels.tolist()):
        path = root / f"class{label:02}" / f"{row}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(known.load(row).permute(1, 2, 0).numpy()).save(path)
    return root


@pytest.mark.parametrize(
    ("classes", "per_class", "split"),
    [
        (8, 3, "split: of 8 classes 2 test, 2 validation and 4 train, drawn by class at random"),
        (3, 4, "split: images of every class, drawn at random (data.seed 0): 3 classes"),
    ],
)
def test_a_bare_folder_runs_and_says_how_it_was_divided(tmp_path, classes, per_class, split):
    root = photos(tmp_path / "photos", classes, per_class)
    (tmp_path / "bare.yaml").write_text(f"data: {{kind: folder, root: {root}}}")
    fast = ["--set", "training.steps=2", "--set", "augmentations.resize=16"]
    done = RUN.invoke(
        app, ["train", str(tmp_path / "bare.yaml"), "--out", str(tmp_path / "run"), *fast]
    )
    assert done.exit_code == 0, done.output
    assert split in done.stderr
    assert "batches: " in done.stderr
    assert "verdict: " in done.stdout
    page = (tmp_path / "run" / "index.html").read_text()
    assert split in page
    assert "instead of 28 × 4" in page
    judged = RUN.invoke(app, ["evaluate", str(tmp_path / "run")])
    assert judged.exit_code == 0, judged.output


def test_a_folder_is_trained_without_a_file_of_settings(tmp_path):
    root = photos(tmp_path / "photos", 8, 3)
    out = tmp_path / "run"
    fast = ["--set", "training.steps=2", "--set", "augmentations.resize=16"]
    done = RUN.invoke(app, ["train", str(root), "--out", str(out), *fast])
    assert done.exit_code == 0, done.output
    assert "split: of 8 classes 2 test" in done.stderr
    settings = Settings.read(out / "config.yaml")
    assert (settings.data.kind, settings.data.root) == ("folder", str(root))
    assert settings.training.steps == 2


def test_the_test_share_is_a_setting_and_evaluate_keeps_the_split_of_the_run(data):
    done = train(data, "--set", "data.test_share=0.5", "--set", "training.steps=2")
    assert done.exit_code == 0, done.output
    assert "split: of 12 classes 6 test, 2 validation and 4 train" in done.stderr
    before = json.loads((data / "run/results.json").read_text())["ap"]["test"]
    photos(data / "images" / "more", 1, 3)
    (data / "images" / "more" / "class00").rename(data / "images" / "a new class")
    (data / "images" / "more").rmdir()
    judged = RUN.invoke(app, ["evaluate", str(data / "run"), "--out", str(data / "all.json")])
    assert judged.exit_code == 0, judged.output
    assert "3 images are not in the recorded split, and left out" in judged.stderr
    assert json.loads((data / "all.json").read_text())["test"] == before
    again = train(data, "--set", "data.test_share=0.5", "--set", "training.steps=2", "--resume")
    assert again.exit_code == 0, again.output


def test_settings_outside_of_their_section_are_shown_where_they_belong(tmp_path):
    (tmp_path / "bare.yaml").write_text("{kind: folder, root: photos}")
    done = RUN.invoke(app, ["train", str(tmp_path / "bare.yaml")])
    assert done.exit_code == 2
    assert "kind: there is no such setting; did you mean data.kind?" in done.output
