from __future__ import annotations

import csv
import json

import pytest
from tests.tasks.retrieval.cases import images, settings, splits, states_equal

from rankwise.errors import UsageError
from rankwise.tasks.retrieval.evaluate import evaluate_splits
from rankwise.tasks.retrieval.pipeline import load_run, open_data, run
from rankwise.tasks.retrieval.report import results_table

RUINED = (
    "optimizer.name=sgd",
    "optimizer.learning_rate=0.1",
    "optimizer.momentum=0",
    "optimizer.weight_decay=9",
)


def test_a_run_leaves_everything_behind(tmp_path):
    finished = run(splits(), settings(), tmp_path)
    rows = list(csv.DictReader((tmp_path / "metrics.csv").read_text().splitlines()))
    assert [row["step"] for row in rows] == ["2", "4", "6"]
    results = json.loads((tmp_path / "results.json").read_text())
    assert results.keys() == {"untrained", "ap"}
    found = finished.results["ap"]["test"]
    assert results["ap"]["test"]["map"] == found.map
    text = finished.report.read_text()
    for part in (f"{found.map:.4f}", "data:image/png;base64", "optimizer.learning_rate", "0.01"):
        assert part in text
    again, network = load_run(tmp_path)
    assert again == settings()
    assert states_equal(network.state_dict(), finished.trained.network.state_dict())
    assert evaluate_splits(network, splits(), again)["test"].map == found.map


def test_a_run_is_not_overwritten_but_resumed(tmp_path):
    first = run(splits(), settings(), tmp_path)
    model = (tmp_path / "model.safetensors").read_bytes()
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        run(splits(), settings(), tmp_path)
    with pytest.raises(UsageError, match=r"training\.steps was 6 and is 8"):
        run(splits(), settings("training.steps=8"), tmp_path, resume=True)
    again = run(splits(), settings(), tmp_path, resume=True)
    assert again.results["ap"]["test"].map == first.results["ap"]["test"].map
    assert (tmp_path / "model.safetensors").read_bytes() == model


def test_the_table_has_a_row_for_each_network_and_gallery(tmp_path):
    test = images("test", 4)
    parts = splits(test=test, galleries={"small": (test, test), "large": (test, test)})
    table = results_table(run(parts, settings(), tmp_path).results)
    assert [row[:2] for row in table.rows] == [
        ("untrained", "small"),
        ("untrained", "large"),
        ("ap", "small"),
        ("ap", "large"),
    ]
    assert table.header == ("network", "gallery", "mAP", "R@1", "R@2", "R-precision", "MAP@R")


def test_data_must_be_somewhere():
    with pytest.raises(UsageError, match=r"data\.root must say where the images are"):
        open_data(settings())
    with pytest.raises(UsageError, match=r"data\.kind must be one of sop, vehicleid, .* 'sops'"):
        open_data(settings("data.kind=sops", "data.root=here"))


def test_a_training_that_ends_below_its_start_says_so_on_the_report(tmp_path):
    """A weight decay this high leaves nothing of a network."""
    found = run(splits(), settings(*RUINED), tmp_path)
    before, after = (found.results[name]["test"].map for name in ("untrained", "ap"))
    assert found.trained.best_step == 0
    assert before == after  # what is saved is the start
    assert "what is saved is the start, before any training" in found.verdict.text
    assert found.verdict.advice[0].startswith("a lower learning rate, optimizer.learning_rate=0.01")
    text = found.report.read_text()
    assert found.verdict.text in text
    assert "What to try: a lower learning rate" in text


def test_without_validation_the_test_images_tell_that_it_got_worse(tmp_path):
    empty = splits().validation.subset([])
    chosen = settings(*RUINED)
    found = run(splits(validation=empty), chosen, tmp_path)
    assert found.verdict.text.startswith("worse than the start: test mAP went from 0.")


def test_a_run_writes_the_batches_it_had(tmp_path):
    chosen = settings("batches.classes=50", "batches.per_class=9")
    found = run(splits(), chosen, tmp_path)
    again, _ = load_run(tmp_path)
    assert (again.batches.classes, again.batches.per_class) == (6, 4)
    assert "batches: 6 classes × 4 images instead of 50 × 9" in found.report.read_text()
    run(splits(), chosen, tmp_path, resume=True)  # the same settings go on
