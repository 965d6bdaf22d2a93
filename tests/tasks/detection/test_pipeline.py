"""A whole run leaves its folder, and the detector comes back from there."""

from __future__ import annotations

import json
import math
import shutil

import pytest
import torch
from safetensors.torch import load_file, save
from tests.tasks.detection.cases import settings, splits
from tests.tasks.retrieval.cases import states_equal
from tests.vision.test_backbones_mobilenet import random_state
from tests.vision.test_backbones_pretrained import TINY

from rankwise.errors import UsageError
from rankwise.seals import METADATA, sealed
from rankwise.tasks.detection.evaluate import evaluate
from rankwise.tasks.detection.inference import detect_all
from rankwise.tasks.detection.pipeline import load_run, open_data, run, write_model
from rankwise.tasks.detection.task import new_detector
from rankwise.vision.backbones import TransformersBackbone
from rankwise.vision.files import CONFIG, MODEL, write_config


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    parts = splits()
    return out, parts, run(parts, settings(), out)


def test_what_is_in_the_folder(finished):
    out, _, done = finished
    names = {path.name for path in out.iterdir()}
    assert names == {
        "checkpoint.pt",
        "classes.json",
        "config.yaml",
        "index.html",
        "metrics.csv",
        "model.safetensors",
        "results.json",
        "run.json",
    }
    results = json.loads((out / "results.json").read_text())
    assert list(done.results) == ["stable_ap"]
    assert results["test"] == done.results["stable_ap"].as_json()
    assert all(map(math.isfinite, results["thresholds"]))
    html = done.report.read_text()
    assert "data:image/png;base64," in html
    assert "stable_ap" in html
    assert "test: 6 images" in html
    assert done.verdict.text[1:] in html
    assert done.verdict.sentence in html
    assert "validation AP w" in done.verdict.text  # before training and after it


def test_the_detector_comes_back(finished):
    out, parts, done = finished
    kept = load_run(out)
    assert kept.classes == ("red", "blue")
    assert list(kept.thresholds) == json.loads((out / "results.json").read_text())["thresholds"]
    found = detect_all(kept.network, parts.test, kept.settings)
    assert evaluate(parts.test, found).as_json() == done.results["stable_ap"].as_json()


def test_a_folder_with_a_run_is_only_touched_by_resume(finished):
    out, parts, done = finished
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        run(parts, settings(), out)
    again = run(parts, settings(), out, resume=True)
    assert again.results["stable_ap"].as_json() == done.results["stable_ap"].as_json()


def test_a_network_of_transformers_comes_back_without_its_weights(tmp_path):
    options = {
        "depths": [1, 1, 1, 1],
        "hidden_sizes": [8, 8, 16, 16],
        "embedding_size": 8,
        "layer_type": "basic",
    }
    asked = settings(
        network={"backbone": "resnet", "options": options}, training={"steps": 1, "batch": 2}
    )
    parts = splits()
    run(parts, asked, tmp_path)
    kept = load_run(tmp_path)
    picture = torch.rand(1, 3, 64, 64)
    assert kept.network(picture).logits.isfinite().all()


def test_folders_that_are_no_runs(tmp_path, finished):
    with pytest.raises(UsageError, match=r"there is no config\.yaml"):
        load_run(tmp_path)
    out, _, _ = finished
    for name in ("config.yaml", "classes.json", "model.safetensors"):
        (tmp_path / name).write_bytes((out / name).read_bytes())
    load_run(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="it has no SHA-256 in it"):
        load_run(tmp_path)
    (tmp_path / "classes.json").write_text("[]")
    with pytest.raises(UsageError, match="does not have classes"):
        load_run(tmp_path)


def test_data_need_a_place():
    with pytest.raises(UsageError, match="--root"):
        open_data(settings())
    with pytest.raises(UsageError, match=r"data\.kind"):
        open_data(settings(data={"kind": "yolo", "root": "x"}))


NAMES = "classes.json"
CLASSES, THRESHOLDS = ("red", "blué", 'a "b"'), [0.5, -1.25, 1e-3]


def written(out, asked=None):
    asked = settings() if asked is None else asked
    with torch.random.fork_rng(devices=[]):
        network = new_detector(asked, len(CLASSES))
    write_config(out, asked)
    write_model(out, network, CLASSES, THRESHOLDS)
    return asked, network


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"network": {"frozen": 5}},
        {"objective": {"name": "focal", "pooled": False}, "network": {"levels": [8, 16, 32, 64]}},
    ],
    ids=["small", "frozen", "by class"],
)
def test_a_detector_comes_back(tmp_path, changes):
    asked, network = written(tmp_path, settings(**changes))
    kept = load_run(tmp_path)
    assert kept.settings == asked
    assert (kept.classes, kept.thresholds) == (CLASSES, tuple(THRESHOLDS))
    assert not kept.network.training
    assert states_equal(kept.network.state_dict(), network.state_dict())
    picture = torch.rand(1, 3, 64, 64)
    with torch.no_grad():
        one, other = network.eval()(picture), kept.network(picture)
    assert torch.equal(one.logits, other.logits)
    assert torch.equal(one.regression, other.regression)
    assert {path.name for path in tmp_path.iterdir()} == {CONFIG, MODEL, NAMES}


@pytest.mark.parametrize("kind", ["resnet", "convnext"])
def test_a_pretrained_one_comes_back_without_what_it_started_from(tmp_path, kind):
    start, out = tmp_path / "start", tmp_path / "run"
    TransformersBackbone(kind, options=TINY[kind]).model.save_pretrained(start)
    network = {"backbone": kind, "weights": str(start), "options": {}}
    asked, first = written(out, settings(network=network))
    shutil.rmtree(start)
    assert (out / "backbone" / "config.json").is_file()
    kept = load_run(out)
    assert kept.settings == asked
    assert states_equal(kept.network.state_dict(), first.state_dict())


def test_mobilenet_comes_back_without_its_file(tmp_path):
    start = tmp_path / "weights.pth"
    torch.save(random_state(), start)
    network = {"backbone": "mobilenet_v2", "weights": str(start), "options": {}}
    _, first = written(tmp_path / "run", settings(network=network))
    start.unlink()
    assert states_equal(load_run(tmp_path / "run").network.state_dict(), first.state_dict())


@pytest.mark.parametrize("name", [CONFIG, NAMES, MODEL])
def test_the_file_that_is_missing_is_named(tmp_path, name):
    written(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(UsageError) as caught:
        load_run(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} is not the folder of a finished run: there is no {name}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "3",
        '{"classes": ["red"]}',
        '{"thresholds": [0.5]}',
        '{"classes": ["red"], "thresholds": ["high"]}',
        '{"classes": null, "thresholds": []}',
    ],
)
def test_names_that_cannot_be_read_are_one_line(tmp_path, text):
    written(tmp_path)
    (tmp_path / NAMES).write_text(text)
    with pytest.raises(UsageError, match=r"classes\.json: does not have classes and thresholds$"):
        load_run(tmp_path)


def test_weights_that_do_not_fit_are_one_line(tmp_path):
    written(tmp_path)
    state, names = load_file(tmp_path / MODEL), (tmp_path / NAMES).read_text()
    fewer = json.dumps({"classes": ["red"], "thresholds": [0.5]})
    message = r"model\.safetensors: does not go with config\.yaml: "
    (tmp_path / NAMES).write_text(fewer)
    with pytest.raises(UsageError, match=message) as caught:
        load_run(tmp_path)
    assert "\n" not in str(caught.value)
    (tmp_path / NAMES).write_text(names)
    write_config(tmp_path, settings(network={"width": 16}))
    with pytest.raises(UsageError, match=message):
        load_run(tmp_path)
    write_config(tmp_path, settings())
    state.pop("head.factors")
    (tmp_path / MODEL).write_bytes(sealed(save(state, METADATA)))
    with pytest.raises(UsageError, match=message):
        load_run(tmp_path)


def test_a_threshold_that_is_no_number_leaves_nothing_behind(tmp_path):
    with torch.random.fork_rng(devices=[]):
        network = new_detector(settings(), 2)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_model(tmp_path, network, ("red", "blue"), [0.5, float("inf")])
    assert not list(tmp_path.iterdir())


def test_a_model_takes_the_place_of_an_earlier_one(tmp_path):
    written(tmp_path)
    _, network = written(tmp_path, settings(training={"seed": 5}))
    assert states_equal(load_run(tmp_path).network.state_dict(), network.state_dict())
    assert len(list(tmp_path.iterdir())) == 3


def test_every_class_has_a_threshold(tmp_path):
    written(tmp_path)
    (tmp_path / NAMES).write_text('{"classes": ["red", "blue"], "thresholds": [0.5]}')
    message = r"classes\.json: must have a threshold for each of its 2 classes, got 1$"
    with pytest.raises(UsageError, match=message):
        load_run(tmp_path)
