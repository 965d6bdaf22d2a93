from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict

import pytest
import torch
from tests.tasks.contrast.cases import SETTINGS, images

from rankwise.errors import UsageError
from rankwise.report import Mean
from rankwise.report.verdict import Verdict
from rankwise.tasks.contrast.pipeline import (
    Evaluation,
    features_of,
    load_network,
    results_table,
    run,
    write_results,
)
from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.task import new_network
from rankwise.training import RunFolder
from rankwise.vision.files import write_config
from rankwise.vision.run import Trained

VERDICT = Verdict("better than before training: test mAP went from 0.2500 to 0.6250")
RESULTS = {
    "untrained": Evaluation(Mean(0.5, 0.05, 40), Mean(0.25, 0.01, 38)),
    "nt_xent": Evaluation(Mean(0.875, 0.02, 40), Mean(0.625, 0.015, 38)),
}
HISTORY = [{"epoch": n + 1, "loss": loss} for n, loss in enumerate((2.0, 1.25, 0.5))]


@pytest.fixture
def trained(tmp_path):
    with torch.random.fork_rng(devices=[]):
        network = new_network(images(tmp_path), SETTINGS)
    return Trained(HISTORY, 3, 3, math.inf, last={}, start=math.nan, network=network)


def test_both_numbers_of_every_network_with_their_intervals():
    table = results_table(RESULTS)
    assert [tuple(map(str, row)) for row in table.rows] == [
        ("untrained", "0.5000 ± 0.0980", "0.2500 ± 0.0196"),
        ("nt_xent", "0.8750 ± 0.0392", "0.6250 ± 0.0294"),
    ]
    assert table.caption.startswith("40 test images; ± is a 95 % interval")
    assert results_table({}).rows == []


def test_the_settings_come_back_from_their_file(tmp_path):
    chosen = SETTINGS.replace(objective="nt_xent", learning_rate=3e-4, seed=7)
    write_config(tmp_path / "new", chosen)
    assert Settings.read(tmp_path / "new" / "config.yaml") == chosen
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["config.yaml"]


def test_the_network_comes_back_with_its_pixels_statistics(tmp_path, trained):
    out = tmp_path / "run"
    write_config(out, SETTINGS)
    write_results(out, SETTINGS, images(tmp_path), trained, RESULTS, verdict=VERDICT)
    network = load_network(out)
    assert torch.equal(network.mean, trained.network.mean)
    assert network.mean.abs().min() > 0.1  # not those of a network that has seen no image
    pixels = images(tmp_path).x_test
    assert torch.equal(features_of(network, pixels), features_of(trained.network, pixels))
    assert not network.training


def test_results_are_numbers_for_a_machine(tmp_path, trained):
    write_results(tmp_path / "run", SETTINGS, images(tmp_path), trained, RESULTS, verdict=VERDICT)
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert found == {name: asdict(each) for name, each in RESULTS.items()}
    assert found["nt_xent"]["probe"] == {"value": 0.875, "standard_error": 0.02, "n": 40}


def test_what_the_report_says(tmp_path, trained):
    out = tmp_path / "run"
    path = write_results(out, SETTINGS, images(tmp_path), trained, RESULTS, verdict=VERDICT)
    assert path == out / "index.html"
    assert {each.name for each in out.iterdir()} == {
        "index.html",
        "model.safetensors",
        "results.json",
    }
    html = path.read_text()
    assert "The loss over 3 epochs, from 2.000 to 0.500." in html
    assert "<td>0.8750 ± 0.0392</td>" in html
    assert f'<p class="choice">B{VERDICT.text[1:]}.</p>' in html
    for name, value in SETTINGS.model_dump().items():
        assert f'<th scope="row">{name}</th><td>{value}</td>' in html


def test_the_same_run_leaves_the_same_bytes(tmp_path, trained):
    written = []
    for name in ("one", "other"):
        write_results(
            tmp_path / name, SETTINGS, images(tmp_path), trained, RESULTS, verdict=VERDICT
        )
        written.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    assert written[0] == written[1]


def test_a_run_leaves_everything_behind(tmp_path):
    data, out = images(tmp_path), tmp_path / "run"
    finished = run(data, SETTINGS, out)
    assert Settings.read(out / "config.yaml") == SETTINGS
    rows = list(csv.DictReader((out / "metrics.csv").read_text().splitlines()))
    assert [row["epoch"] for row in rows] == ["1", "2"]
    results = json.loads((out / "results.json").read_text())
    assert results.keys() == {"untrained", "global_contrastive"}
    found = finished.results["global_contrastive"]
    assert results["global_contrastive"]["probe"]["value"] == found.probe.value
    assert finished.report == out / "index.html"
    text = finished.report.read_text()
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
    assert Settings.read(out / "config.yaml").epochs == 2
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
