from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save
from tests.tasks.classification.cases import TWO, images, settings, splits
from tests.tasks.retrieval.cases import states_equal
from tests.vision.test_backbones_pretrained import TINY

from rankwise.errors import UsageError
from rankwise.seals import METADATA, sealed
from rankwise.tasks.classification.evaluate import Evaluation, as_json
from rankwise.tasks.classification.pipeline import (
    evaluate_part,
    fit_settings,
    load_run,
    open_data,
    run,
)
from rankwise.tasks.classification.settings import Network
from rankwise.tasks.classification.task import Classifier, new_classifier
from rankwise.vision.backbones import TransformersBackbone
from rankwise.vision.files import CONFIG, MODEL, write_config, write_model
from rankwise.vision.image_dataset import ImageDataset

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
    assert "<svg" in html  # the rarest classes
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
    with pytest.raises(
        UsageError,
        match=r"model\.safetensors: does not go with config\.yaml: it has no SHA-256 in it",
    ):
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


def written(out, *changes, counts=(12, 8, 4), several=False):
    chosen = settings(*changes)
    train = images("train", counts, several=several)
    with torch.random.fork_rng(devices=[]):
        network = new_classifier(train, ImageDataset(train.images, chosen.augmentations), chosen)
    write_config(out, chosen)
    write_model(out, network, network.backbone)
    return chosen, network


@pytest.mark.parametrize(
    ("counts", "several", "change", "logits"),
    [
        (TWO, False, "network.head=linear", 1),
        (TWO, True, "network.head=linear", 2),
        ((12, 8, 4), False, "network.head=cosine", 3),
        ((12, 8, 4), False, "objective.name=ldam", 3),
    ],
)
def test_a_network_comes_back_with_its_logits_and_its_head(
    tmp_path, counts, several, change, logits
):
    chosen, network = written(tmp_path, change, counts=counts, several=several)
    found, again = load_run(tmp_path)
    assert found == chosen
    assert not again.training
    assert again.cosine == chosen.cosine
    assert states_equal(again.state_dict(), network.state_dict())
    pictures = torch.rand(4, 3, 8, 8)
    assert again(pictures).shape == (4, logits)
    assert torch.equal(again(pictures), network.eval()(pictures))
    assert {path.name for path in tmp_path.iterdir()} == {CONFIG, MODEL}


@pytest.mark.parametrize("given", [False, True], ids=["from scratch", "pretrained"])
def test_a_resnet_comes_back_without_what_it_started_from(tmp_path, given):
    start, out = tmp_path / "start", tmp_path / "run"
    chosen = Network(backbone="resnet", options=TINY["resnet"])
    if given:
        TransformersBackbone("resnet", options=TINY["resnet"]).model.save_pretrained(start)
        chosen = Network(backbone="resnet", weights=str(start))
    asked = settings().replace(network=chosen)
    network = Classifier(asked, 3)
    write_config(out, asked)
    write_model(out, network, network.backbone)
    shutil.rmtree(start, ignore_errors=True)
    found, again = load_run(out)
    assert found == asked
    assert states_equal(again.state_dict(), network.state_dict())


@pytest.mark.parametrize("name", [CONFIG, MODEL])
def test_the_file_that_is_missing_is_named(tmp_path, name):
    written(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(UsageError, match=f"not the folder of a finished run: there is no {name}$"):
        load_run(tmp_path)


def test_weights_of_another_network_are_refused_in_one_line(tmp_path):
    written(tmp_path)
    state = load_file(tmp_path / MODEL)
    write_config(tmp_path, settings('network.options={"width": 3}'))
    with pytest.raises(UsageError, match=r"model\.safetensors: does not go with config\.yaml: "):
        load_run(tmp_path)
    write_config(tmp_path, settings())
    load_run(tmp_path)
    bare = {name: value for name, value in state.items() if name != "projection.bias"}
    (tmp_path / MODEL).write_bytes(sealed(save(bare, METADATA)))
    with pytest.raises(
        UsageError, match=r"does not go with config\.yaml: it holds no 'projection\.bias'$"
    ):
        load_run(tmp_path)


def test_settings_that_cannot_be_read_name_their_file(tmp_path):
    written(tmp_path)
    (tmp_path / CONFIG).write_text("training: {steps: 0}")
    with pytest.raises(UsageError, match=r"config\.yaml: training\.steps must be a whole number"):
        load_run(tmp_path)


def test_what_is_no_number_is_null_in_the_results():
    judged = Evaluation(
        ("cat", "dog"), (3, 0), (0.5, math.nan), (0.75, math.nan), (0.25, math.nan), 0.625, 8, 0.1
    )
    results = {"untrained": judged, "ap": replace(judged, top_1=math.nan)}
    found = {name: as_json(one) for name, one in results.items()}
    assert found["untrained"]["map"] == 0.5
    assert (found["untrained"]["top_1"], found["ap"]["top_1"]) == (0.625, None)
    assert found["ap"]["classes"]["dog"]["ap"] is None
    assert found["ap"]["classes"]["cat"] == {
        "positives": 3,
        "ap": 0.5,
        "auroc": 0.75,
        "partial_auroc": 0.25,
    }


def test_batches_fit_the_training_images_and_a_line_says_so():
    parts = splits((6, 4))
    fitted, lines = fit_settings(settings("batches.size=64"), parts)
    assert fitted.batches.size == len(parts.train) == 10
    assert lines == ["batches: 10 images instead of 64: there are 10 training images"]
    three = splits((12, 8, 4))
    fitted, lines = fit_settings(settings("batches.size=64", "batches.per_class=4"), three)
    assert fitted.batches.size == 12
    assert "there are 3 training classes, 4 images of each in a batch" in lines[0]
    chosen = settings("batches.size=8")
    assert fit_settings(chosen, parts) == (chosen, [])
