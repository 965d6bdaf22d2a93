"""A whole run leaves its folder, and the detector comes back from there."""

from __future__ import annotations

import json
import math

import pytest
import torch
from tests.tasks.detection.cases import settings, splits

from rankwise.errors import UsageError
from rankwise.tasks.detection.evaluate import detect_all, evaluate
from rankwise.tasks.detection.files import load_run
from rankwise.tasks.detection.pipeline import open_data, run


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
    assert done.verdict.text in html
    assert "validation AP w" in done.verdict.text  # before training and after it


def test_the_detector_comes_back(finished):
    out, parts, done = finished
    kept = load_run(out)
    assert kept.classes == ("red", "blue")
    assert list(kept.thresholds) == done.thresholds
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
    with pytest.raises(UsageError, match="does not go with"):
        load_run(tmp_path)
    (tmp_path / "classes.json").write_text("[]")
    with pytest.raises(UsageError, match="does not have classes"):
        load_run(tmp_path)


def test_data_need_a_place():
    with pytest.raises(UsageError, match="--root"):
        open_data(settings())
    with pytest.raises(UsageError, match=r"data\.kind"):
        open_data(settings(data={"kind": "yolo", "root": "x"}))
