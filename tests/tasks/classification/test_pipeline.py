from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from tests.tasks.classification.cases import TWO, settings, splits
from tests.tasks.retrieval.cases import states_equal

from rankwise.errors import UsageError
from rankwise.tasks.classification.evaluate import as_json
from rankwise.tasks.classification.pipeline import evaluate_part, load_run, open_data, run

FILES = {
    "config.yaml",
    "metrics.csv",
    "results.json",
    "model.safetensors",
    "checkpoint.pt",
    "index.html",
    "run.json",
}
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("counts", "several", "change"),
    [
        (TWO, False, "objective.name=ldam"),
        ((12, 8, 4), False, "objective.name=soprc"),
        ((12, 8, 4), True, "objective.name=soap"),
    ],
)
def test_a_run_leaves_its_files_and_comes_back(tmp_path, counts, several, change):
    parts, chosen = splits(counts, several=several), settings(change)
    done = run(parts, chosen, tmp_path, device=CPU)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    short = chosen.objective.short
    assert list(done.results) == ["untrained", f"{short}, last step", short]
    again, network = load_run(tmp_path)
    assert again == chosen
    assert states_equal(network.state_dict(), done.trained.network.state_dict())
    found = json.loads((tmp_path / "results.json").read_text())[short]
    assert found == as_json(evaluate_part(network, parts, chosen, "test"))
    html = (tmp_path / "index.html").read_text()
    assert f"{done.results[short].map:.4f}" in html
    assert "data:image/png;base64," in html
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        run(parts, chosen, tmp_path, device=CPU)
    resumed = run(parts, chosen, tmp_path, resume=True, device=CPU)
    assert resumed.results[short].map == done.results[short].map


def test_folders_that_are_no_runs(tmp_path):
    with pytest.raises(UsageError, match=r"there is no config\.yaml"):
        load_run(tmp_path)
    run(splits(), settings(), tmp_path, device=CPU)
    (tmp_path / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(UsageError, match=r"model\.safetensors: was changed or damaged"):
        load_run(tmp_path)
    (tmp_path / "run.json").unlink()
    with pytest.raises(UsageError, match=r"does not go with config\.yaml"):
        load_run(tmp_path)


def test_data_of_the_settings(tmp_path):
    with pytest.raises(UsageError, match=r"data\.root must say where the images are"):
        open_data(settings("data.kind=cifar"))
    with pytest.raises(UsageError, match=r"data\.kind must be one of cifar"):
        open_data(settings("data.kind=sop"))
    labels = np.arange(4).repeat(20).astype(np.uint8)
    pixels = np.zeros((80, 8, 8, 3), np.uint8)
    names = np.array(["a", "b", "c", "d"])
    parts = {"x_train": pixels, "y_train": labels, "x_test": pixels[:0], "y_test": labels[:0]}
    np.savez(tmp_path / "c.npz", classes=names, **parts)
    found = open_data(
        settings(
            "data.kind=cifar",
            f"data.root={tmp_path / 'c.npz'}",
            "data.positive=[b]",
            "data.imbalance=4",
        )
    )
    assert found.train.classes == ("rest", "b")
    assert sum(len(p) for p in (found.train, found.validation, found.test)) == 20 + 12 + 7 + 5


def test_a_part_without_images():
    parts = splits()
    empty = type(parts)(parts.train, parts.validation.subset([]), parts.test)
    with pytest.raises(UsageError, match="there are no validation images"):
        evaluate_part(torch.nn.Identity(), empty, settings(), "validation")
