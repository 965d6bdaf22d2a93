from __future__ import annotations

import json
from dataclasses import asdict

import pytest
import torch
from tests.tasks.contrast.cases import SETTINGS, images

from rankwise.report.verdict import Verdict
from rankwise.tasks.contrast import Evaluation, Settings, Share, load_network, new_network
from rankwise.tasks.contrast.evaluation import features_of
from rankwise.tasks.contrast.page import results_table, write_config, write_results
from rankwise.tasks.contrast.training import Trained

VERDICT = Verdict("better than the start: test mAP went from 0.2500 to 0.6250")
RESULTS = {
    "untrained": Evaluation(Share(0.5, 0.05, 40), Share(0.25, 0.01, 38)),
    "nt_xent": Evaluation(Share(0.875, 0.02, 40), Share(0.625, 0.015, 38)),
}
HISTORY = [{"epoch": n + 1, "loss": loss} for n, loss in enumerate((2.0, 1.25, 0.5))]


@pytest.fixture
def trained(tmp_path):
    with torch.random.fork_rng(devices=[]):
        return Trained(new_network(images(tmp_path), SETTINGS), HISTORY)


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
    assert Settings(**json.loads((tmp_path / "new" / "config.json").read_text())) == chosen
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["config.json"]


def test_the_network_comes_back_with_its_pixels_statistics(tmp_path, trained):
    out = tmp_path / "run"
    write_config(out, SETTINGS)
    write_results(out, SETTINGS, trained, RESULTS, VERDICT)
    network = load_network(out)
    assert torch.equal(network.mean, trained.network.mean)
    assert network.mean.abs().min() > 0.1  # not those of a network that has seen no picture
    pixels = images(tmp_path).x_test
    assert torch.equal(features_of(network, pixels), features_of(trained.network, pixels))
    assert not network.training


def test_results_are_numbers_for_a_machine(tmp_path, trained):
    write_results(tmp_path / "run", SETTINGS, trained, RESULTS, VERDICT)
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert found == {name: asdict(each) for name, each in RESULTS.items()}
    assert found["nt_xent"]["probe"] == {"value": 0.875, "standard_error": 0.02, "n": 40}


def test_what_the_page_says(tmp_path, trained):
    out = tmp_path / "run"
    path = write_results(out, SETTINGS, trained, RESULTS, VERDICT)
    assert path == out / "index.html"
    assert {each.name for each in out.iterdir()} == {
        "index.html",
        "model.safetensors",
        "results.json",
    }
    html = path.read_text()
    assert "The loss over 3 epochs, from 2.000 to 0.500." in html
    assert "<td>0.8750 ± 0.0392</td>" in html
    assert f"<h2>Verdict</h2>\n<p>{VERDICT.text}</p>" in html
    for name, value in SETTINGS.model_dump().items():
        assert f"<td>{name}</td><td>{value}</td>" in html


def test_the_same_run_leaves_the_same_bytes(tmp_path, trained):
    written = []
    for name in ("one", "other"):
        write_results(tmp_path / name, SETTINGS, trained, RESULTS, VERDICT)
        written.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    assert written[0] == written[1]
