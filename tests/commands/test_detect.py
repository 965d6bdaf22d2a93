from __future__ import annotations

import json

import pytest
from PIL import Image
from tests.data.detection.layouts import xml
from tests.tasks.detection.cases import CLASSES, SMALL, pictures
from typer.testing import CliRunner

from rankwise.commands.detect import app
from rankwise.tasks.detection.settings import Settings
from rankwise.training import RunFolder

RUN = CliRunner()


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def data(tmp_path):
    """A folder in the layout of Pascal VOC, and a config."""
    root = tmp_path / "data"
    for folder in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    for seed, part in enumerate(("train", "val", "test")):
        known = pictures(part, 4, seed)
        for i in range(4):
            stem = f"{part}{i}"
            image = Image.fromarray(known.load(i).permute(1, 2, 0).numpy())
            image.save(root / "JPEGImages" / f"{stem}.png")
            rows = zip(known.objects[i].boxes.tolist(), known.objects[i].labels, strict=True)
            objects = [
                (CLASSES[int(c)], (int(b[0]) + 1, int(b[1]) + 1, int(b[2]), int(b[3])), False)
                for b, c in rows
            ]
            if stem == "train0":
                objects.append(("red", (9, 9, 9, 9), False))
            (root / "Annotations" / f"{stem}.xml").write_text(xml(objects, (80, 60)))
        names = "".join(f"{part}{i}\n" for i in range(4))
        (root / "ImageSets/Main" / f"{part}.txt").write_text(names)
    lists = {"kind": "voc", "train": ["train"], "validation": ["val"], "test": ["test"]}
    (tmp_path / "config.yaml").write_text(Settings.changed({**SMALL, "data": lists}).as_yaml())
    return tmp_path


def train(data, *more: str):
    arguments = ["train", str(data / "config.yaml"), "--root", str(data / "data")]
    return RUN.invoke(app, [*arguments, "--out", str(data / "run"), *more])


def test_train_evaluate_predict(data):
    done = train(data)
    assert done.exit_code == 0, done.output
    for words in (
        "train: 4 images",
        "1 without objects, which are kept",
        "1 box without area in its image: dropped (train0.png: red 9 9 9 9)",
        "AP50",
        "kept: the network after step",
        str(data / "run/index.html"),
    ):
        assert words in done.output
    results = json.loads((data / "run/results.json").read_text())["test"]

    judged = RUN.invoke(app, ["evaluate", str(data / "run"), "--out", str(data / "all.json")])
    assert judged.exit_code == 0, judged.output
    assert json.loads((data / "all.json").read_text())["test"] == results
    assert f"{100 * results['ap']:.1f}" in judged.output

    image = data / "data/JPEGImages/test0.png"
    arguments = ["predict", str(image), "--run", str(data / "run"), "--out", str(data / "found")]
    found = RUN.invoke(app, [*arguments, "--min-score", "0"])
    assert found.exit_code == 0, found.output
    tree = json.loads((data / "found/test0.json").read_text())
    assert (tree["image"], tree["width"], tree["height"]) == ("test0.png", 80, 60)
    assert 0 < len(tree["detections"]) <= 100
    assert {row["class"] for row in tree["detections"]} <= set(CLASSES)
    assert all(0 <= row["score"] <= 1 for row in tree["detections"])
    with Image.open(data / "found/test0.png") as image:
        assert image.size == (80, 60)
    nothing = RUN.invoke(app, [*arguments, "--min-score", "1"])
    assert "test0.png: nothing" in nothing.output
    assert RUN.invoke(app, arguments).exit_code == 0


def test_a_run_goes_on_with_resume_only(data):
    assert train(data, "--set", "training.steps=2").exit_code == 0
    again = train(data, "--set", "training.steps=2")
    assert again.exit_code == 2
    assert "already holds a run; pass --resume" in again.output
    assert train(data, "--set", "training.steps=2", "--resume").exit_code == 0


def test_missing_images_end_it_or_are_left_out(data):
    (data / "data/JPEGImages/train1.png").unlink()
    (data / "data/JPEGImages/train2.png").write_bytes(b"nonsense")
    ended = train(data)
    assert ended.exit_code == 2
    assert "1 image is missing or damaged" in ended.output
    assert "train1.jpg: there is no such file" in ended.output
    done = train(data, "--skip-broken", "--set", "training.steps=2")
    assert done.exit_code == 0, done.output
    assert "left out: 1 image" in done.output
    assert "train2.png: is not an image; left out" in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "nowhere.yaml"], "there is no such file"),
        (["train", "bccd"], "data.root must say"),
        (["train", "bccd", "--root", "nowhere"], "nowhere: there is no such folder"),
        (["train", "bccd", "--set", "training.stps=3"], "did you mean steps"),
        (["evaluate", "nowhere"], "is not the folder of a finished run"),
        (["evaluate", "nowhere", "--part", "all"], "--part must be one of"),
        (["predict", "x.png", "--run", "nowhere"], "is not the folder of a finished run"),
    ],
)
def test_bad_input_is_one_line_and_2(arguments, words):
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 2
    assert words in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_an_image_that_is_none(data):
    assert train(data, "--set", "training.steps=2").exit_code == 0
    (data / "x.png").write_bytes(b"nonsense")
    done = RUN.invoke(app, ["predict", str(data / "x.png"), "--run", str(data / "run")])
    assert done.exit_code == 2
    assert "is not an image" in done.output


def test_what_ships_is_listed():
    done = RUN.invoke(app, ["configs"])
    assert {"bccd", "coco", "voc"} <= set(done.output.split())


def test_the_run_of_another_command_is_left_alone(data):
    with RunFolder(data / "run", "compare").opened():
        (data / "run/config.json").write_text('{"command": "rankwise compare"}')
        (data / "run/results.json").write_text("{}")
    for more in ([], ["--resume"]):
        done = train(data, *more)
        assert done.exit_code == 2
        last = done.output.strip().splitlines()[-1]
        assert "holds a run of rankwise compare, not of rankwise detect; pass another" in last
    assert (data / "run/results.json").read_text() == "{}"


@pytest.mark.parametrize("out", ["config.yaml", "/proc/rankwise"])
def test_a_folder_that_cannot_be_is_one_line_and_2(data, out):
    image = data / "data/JPEGImages/test0.png"
    for done in (
        RUN.invoke(app, ["predict", str(image), "--out", str(data / out)]),
        train(data, "--out", str(data / out)),
    ):
        assert done.exit_code == 2
        assert "--out must be a folder" in done.output
        assert len(done.output.strip().splitlines()) == 1


def test_no_image_is_drawn_over_and_no_drawing(data):
    pictures = data / "data/JPEGImages"
    other = data / "test0.png"
    other.write_bytes((pictures / "test0.png").read_bytes())
    before = (pictures / "test0.png").read_bytes()
    for images, out, words in (
        ([pictures / "test0.png"], pictures, "--out must be another folder than that of"),
        ([pictures / "test0.png", other], data / "found", "would both be drawn as"),
    ):
        done = RUN.invoke(app, ["predict", *map(str, images), "--out", str(out)])
        assert done.exit_code == 2
        assert words in done.output
        assert len(done.output.strip().splitlines()) == 1
    assert (pictures / "test0.png").read_bytes() == before
    assert not (data / "found").exists()
