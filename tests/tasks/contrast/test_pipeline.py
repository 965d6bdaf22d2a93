from __future__ import annotations

import csv
import json

import pytest
import torch
from tests.tasks.contrast.cases import SETTINGS, images

from rankwise.tasks.contrast import UsageError, load_network, results_table, run
from rankwise.tasks.contrast.evaluation import features_of
from rankwise.training import RunFolder


def test_a_run_leaves_everything_behind(tmp_path):
    data, out = images(tmp_path), tmp_path / "run"
    finished = run(data, SETTINGS, out)
    assert json.loads((out / "config.json").read_text())["batch"] == 8
    rows = list(csv.DictReader((out / "metrics.csv").read_text().splitlines()))
    assert [row["epoch"] for row in rows] == ["1", "2"]
    results = json.loads((out / "results.json").read_text())
    assert results.keys() == {"untrained", "global_contrastive"}
    found = finished.results["global_contrastive"]
    assert results["global_contrastive"]["probe"]["value"] == found.probe.value
    assert finished.page == out / "index.html"
    text = finished.page.read_text()
    for part in (str(found.retrieval), "data:image/png;base64", "learning_rate", "0.01"):
        assert part in text
    network = load_network(out)
    assert not network.training
    assert features_of(network, data.x_test).shape == (12, 16)


def test_a_loaded_network_is_the_trained_one(tmp_path):
    data, out = images(tmp_path), tmp_path / "run"
    run(data, SETTINGS, out)
    state = torch.load(out / "checkpoint.pt", weights_only=True)["network"]
    for name, value in load_network(out).state_dict().items():
        assert torch.equal(value, state[name]), name


def test_a_run_is_not_overwritten_but_resumed(tmp_path):
    data, out = images(tmp_path), tmp_path / "run"
    first = run(data, SETTINGS, out)
    model = (out / "model.safetensors").read_bytes()
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        run(data, SETTINGS, out)
    with pytest.raises(UsageError, match="epochs was 2 and is 3"):
        run(data, SETTINGS.replace(epochs=3), out, resume=True)
    assert json.loads((out / "config.json").read_text())["epochs"] == 2
    assert run(data, SETTINGS, out, resume=True).results == first.results
    assert (out / "model.safetensors").read_bytes() == model


def test_the_table_has_a_row_for_each_network(tmp_path):
    finished = run(images(tmp_path), SETTINGS, tmp_path / "run")
    table = results_table(finished.results)
    assert [row[0] for row in table.rows] == ["untrained", "global_contrastive"]
    assert table.caption.startswith("12 test images")


def test_the_run_of_another_task_is_not_overwritten(tmp_path):
    data, out = images(tmp_path), tmp_path / "run"
    out.mkdir()
    with RunFolder(out, "compare").opened():
        (out / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="a run of rankwise compare, not of rankwise contrast"):
        run(data, SETTINGS, out)
