from __future__ import annotations

import csv
import json
import shutil

import pytest
import torch
from tests.tasks.retrieval.cases import evaluate_splits, images, settings, splits, states_equal
from tests.vision.test_backbones_mobilenet import random_state
from tests.vision.test_backbones_pretrained import TINY

from rankwise.data.images import ImageSet
from rankwise.data.images._listing import Recorded
from rankwise.errors import UsageError
from rankwise.tasks.retrieval.evaluate import results_table
from rankwise.tasks.retrieval.pipeline import fit_settings, load_run, open_data, run
from rankwise.tasks.retrieval.settings import Network, Settings
from rankwise.tasks.retrieval.task import make_network
from rankwise.vision.backbones import TransformersBackbone
from rankwise.vision.files import (
    SPLIT,
    read_split,
    write_config,
    write_model,
    write_split,
)

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
    assert "the saved model is the untrained one" in found.verdict.text
    assert found.verdict.advice[0].startswith("a lower learning rate, optimizer.learning_rate=0.01")
    text = found.report.read_text()
    assert found.verdict.text[1:] in text
    assert found.verdict.sentence in text
    assert "What to try: a lower learning rate" in text


def test_without_validation_the_test_images_tell_that_it_got_worse(tmp_path):
    empty = splits().validation.subset([])
    chosen = settings(*RUINED)
    found = run(splits(validation=empty), chosen, tmp_path)
    assert found.verdict.text.startswith("worse than before training: test mAP went from 0.")


def test_a_run_writes_the_batches_it_had(tmp_path):
    chosen = settings("batches.classes=50", "batches.per_class=9")
    found = run(splits(), chosen, tmp_path)
    again, _ = load_run(tmp_path)
    assert (again.batches.classes, again.batches.per_class) == (6, 4)
    assert "batches: 6 classes × 4 images instead of 50 × 9" in found.report.read_text()
    run(splits(), chosen, tmp_path, resume=True)  # the same settings go on


def test_batches_have_no_more_classes_and_images_of_a_class_than_there_are():
    fitted, lines = fit_settings(Settings(), splits(train=images("train", 5, 3)))
    assert (fitted.batches.classes, fitted.batches.per_class) == (5, 3)
    assert lines == [
        "batches: 5 classes × 3 images instead of 28 × 4: there are 5 training classes of at most "
        "3 images"
    ]


def test_batches_that_can_be_filled_are_left_alone():
    chosen = settings()
    assert fit_settings(chosen, splits(train=images("train", 6))) == (chosen, [])


def test_gradient_caching_goes_by_whole_classes():
    chosen = settings("batches.per_class=4", "batches.chunk=8")
    fitted, _ = fit_settings(chosen, splits(train=images("train", 6, 3)))
    assert (fitted.batches.per_class, fitted.batches.chunk) == (3, 6)


def test_images_of_one_class_cannot_be_ranked():
    alone = ImageSet("mine", torch.zeros(4, dtype=torch.long), ("a",), paths=tuple("wxyz"))
    with pytest.raises(
        UsageError, match="mine: training needs images of two classes or more, got 1"
    ):
        fit_settings(settings(), splits(train=alone))


def written(out, chosen: Network):
    made = settings().replace(network=chosen)
    network = make_network(chosen)
    write_config(out, made)
    write_model(out, network, network.backbone)
    return made, network


def test_settings_and_network_come_back(tmp_path):
    made, network = written(tmp_path, settings().network)
    found, again = load_run(tmp_path)
    assert found == made
    assert not again.training
    assert states_equal(again.state_dict(), network.state_dict())


@pytest.mark.parametrize("kind", TINY)
def test_a_pretrained_network_comes_back_without_what_it_started_from(tmp_path, kind):
    start, out = tmp_path / "start", tmp_path / "run"
    TransformersBackbone(kind, options=TINY[kind]).model.save_pretrained(start)
    _, network = written(out, Network(backbone=kind, weights=str(start), dimension=3))
    shutil.rmtree(start)
    _, again = load_run(out)
    assert states_equal(again.state_dict(), network.state_dict())
    pictures = torch.rand(2, 3, 32, 32)
    assert torch.equal(again(pictures), network.eval()(pictures))


def test_mobilenet_comes_back_without_its_file(tmp_path):
    start = tmp_path / "weights.pth"
    torch.save(random_state(), start)
    chosen = Network(backbone="mobilenet_v2", weights=str(start), dimension=3)
    _, network = written(tmp_path / "run", chosen)
    start.unlink()
    assert states_equal(load_run(tmp_path / "run")[1].state_dict(), network.state_dict())


def test_folders_that_hold_no_run(tmp_path):
    with pytest.raises(UsageError, match=r"is not the folder of a finished run: there is no con"):
        load_run(tmp_path)
    written(tmp_path, settings().network)
    write_config(tmp_path, settings("network.dimension=7"))
    with pytest.raises(UsageError, match=r"model.safetensors: does not go with config\.yaml"):
        load_run(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(
        UsageError,
        match=r"model\.safetensors: does not go with config\.yaml: it has no SHA-256 in it",
    ):
        load_run(tmp_path)


def test_a_split_comes_back_and_what_is_none_is_refused(tmp_path):
    assert read_split(tmp_path) is None
    record = (Recorded("a/1.png", "a", "train"), Recorded('b, "c"/2.png', 'b, "c"', "test"))
    write_split(tmp_path, record)
    assert read_split(tmp_path) == record
    for text in ("", "path,label,part\n", "path,part\na,train\n", "path,label,part\na,b,dev\n"):
        (tmp_path / SPLIT).write_text(text)
        with pytest.raises(UsageError, match=r"split\.csv: is not the split of a run"):
            read_split(tmp_path)
    write_split(tmp_path / "published", ())
    assert not (tmp_path / "published").exists()


def test_the_split_of_an_earlier_version_is_not_drawn_again(tmp_path):
    (tmp_path / "division.csv").write_text("path,label,part\na/1.png,a,train\n")
    with pytest.raises(UsageError, match=r"keeps its split in division\.csv.*train it again"):
        read_split(tmp_path)
