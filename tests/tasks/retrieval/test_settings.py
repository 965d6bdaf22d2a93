from __future__ import annotations

import json
import re

import pytest
import torch
from tests.tasks.retrieval.cases import SMALL, settings

from rankwise.data.images import KINDS
from rankwise.errors import UsageError
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.settings import Data, Mixup, Network, Objective, Settings
from rankwise.training.settings import Optimizer
from rankwise.vision.settings import Augmentations


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Data(validation_share=1.0), "data.validation_share must be in \\(0, 1\\), got"),
        (lambda: Data(hits=(0,)), "data.hits must be a whole number >= 1, got 0"),
        (lambda: Network(backbone="alexnet"), "network.backbone must be one of small, resnet, co"),
        (lambda: Network(dimension=0), "network.dimension must be a whole number >= 1, got 0"),
        (
            lambda: Augmentations(resize=256, crop=300),
            "augmentations.crop must be at most augmentations.resize, 256, got 300",
        ),
        (
            lambda: Augmentations(scale=(0.0, 1.0)),
            r"augmentations.scale must be two shares, .* got \[0.0, 1.0\]",
        ),
        (
            lambda: Augmentations(rotation=-1),
            "augmentations.rotation must be a finite number >= 0, got -1",
        ),
        (lambda: Mixup(u=1.5), r"mixup.u must be in \[0, 1\], got 1.5"),
        (lambda: settings("batches.classes=1"), "batches.classes must be a whole number >= 2"),
        (lambda: settings("batches.chunk=3"), "must be a multiple of the 2 images of a class"),
        (lambda: settings("training.patience=0"), "training.patience must be a whole number >= 1"),
        (lambda: settings("training.precision=half"), "must be one of float32, bfloat16, f"),
        (
            lambda: settings("objective.previous=true", "memory.size=4"),
            "objective.previous and memory.size exclude each other",
        ),
    ],
)
def test_bad_settings_are_named(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_the_short_name_of_an_objective():
    assert Objective(name="soprc(score_scale=1)").short == "soprc"
    assert Objective(name="ap").short == "ap"


def test_the_defaults_are_settings():
    assert Settings().batches.classes * Settings().batches.per_class == 112


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "lbfgs"}, "optimizer.name must be one of sgd, adam, adamw, got 'lbfgs'"),
        ({"s": 1.5}, r"optimizer.s must be in \[0, 1\], got 1.5"),
        ({"momentum": 1.0}, r"optimizer.momentum must be in \[0, 1\), got 1.0"),
        ({"milestones": (30, 15)}, "optimizer.milestones must increase, got 30, 15"),
        ({"learning_rate": 0.0}, "optimizer.learning_rate must be a finite number > 0, got 0.0"),
    ],
)
def test_optimizers_that_cannot_be(options, message):
    with pytest.raises(UsageError, match=message):
        Optimizer(**options)


HERE = ["omniglot", "cifar100", "fashion_mnist", "sop", "vehicleid", "inaturalist"]


def test_one_configuration_of_each_data_set_ships():
    assert sorted(Settings.shipped()) == sorted(HERE)


@pytest.mark.parametrize("name", Settings.shipped())
def test_what_ships_can_be_trained(name):
    found = Settings.read(name)
    assert found.data.kind in KINDS
    labels = torch.arange(400) // 4
    RetrievalLoss(found, labels)
    assert (Settings.configs / f"{name}.yaml").read_text().startswith("# ")


def test_a_file_says_only_what_is_different(tmp_path):
    (tmp_path / "base.yaml").write_text(
        "training: {steps: 7, seed: 3}\naugmentations: {crop: 100}\n"
    )
    (tmp_path / "mine.yaml").write_text("base: base.yaml\ntraining: {steps: 9}\n")
    found = Settings.read(tmp_path / "mine.yaml", ["augmentations.flip=false", "optimizer.s=0"])
    assert (found.training.steps, found.training.seed, found.augmentations.crop) == (9, 3, 100)
    assert found.augmentations.flip is False
    assert found.optimizer.s == 0.0
    assert Settings.read(tmp_path / "base.yaml").training.steps == 7


def test_a_file_anywhere_can_build_on_one_that_ships(tmp_path):
    (tmp_path / "mine.yaml").write_text("base: omniglot.yaml\ntraining: {steps: 9}\n")
    found = Settings.read(tmp_path / "mine.yaml")
    assert found.training.steps == 9
    assert found.data == Settings.read("omniglot").data


def test_settings_come_back_from_what_is_written(tmp_path):
    for found in (Settings(), Settings.changed(SMALL, []), Settings.read("sop")):
        (tmp_path / "config.yaml").write_text(found.as_yaml())
        assert Settings.read(tmp_path / "config.yaml") == found


def test_a_number_without_a_point_is_a_number():
    assert Settings.changed({}, ["optimizer.learning_rate=1e-4"]).optimizer.learning_rate == 1e-4


def test_any_path_can_be_a_root():
    path = "a: b/#c 'd' \"e\" ü"
    assert Settings.changed({}, [f"data.root={json.dumps(path)}"]).data.root == path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trainning: {steps: 3}", "trainning: there is no such setting; did you mean training?"),
        ("training: {stepps: 3}", "training.stepps: there is no such setting; did you mean steps?"),
        ("qqq: 3", "qqq: there is no such setting; there are data, network"),
        ("training: {steps: many}", "training.steps must be a whole number >= 1, got 'many'"),
        ("training: {steps: true}", "training.steps must be a whole number >= 1, got True"),
        ("training: {steps: 0}", "training.steps must be a whole number >= 1, got 0"),
        ("training: 3", "training must be names and values, got 3"),
        (
            "optimizer: {learning_rate: fast}",
            "optimizer.learning_rate must be a finite number > 0, got 'fa",
        ),
        ("optimizer: {milestones: 3}", "optimizer.milestones must be a list in brackets, got 3"),
        ("augmentations: {flip: 1}", "augmentations.flip must be true or false, got 1"),
        ("network: {options: 3}", "network.options must be names and values, got 3"),
        ("objective: {name: 3}", "objective.name must be a string, got 3"),
        ("- 1", "must have names and values, such as training"),
        ("a: [", "is not yaml"),
        (
            "training: {steps: 3}\naugmentations: {}\ntraining: {seed: 1}",
            "line 3: training is there alre",
        ),
        ("training: {steps: 3, steps: 4}", "line 1: steps is there already, on line 1"),
        ("network: {options: {a: [{b: 1, b: 2}]}}", "line 1: b is there already"),
        ("base: nowhere.yaml", "base: nowhere.yaml is neither a file next to this one nor ships"),
        ("base: mine.yaml", "base: mine.yaml refers back to itself"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_file(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        Settings.read(path)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).count(f"{path}: ") == 1
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a: [", "is not yaml"), ("- 1", "must have names"), ("a: 1\na: 2", "line 2: a is there")],
)
def test_what_is_wrong_with_the_file_below_names_both(tmp_path, text, message):
    (tmp_path / "below.yaml").write_text(text)
    path = tmp_path / "mine.yaml"
    path.write_text("base: below.yaml")
    with pytest.raises(UsageError, match=re.escape(f"{path}: {tmp_path}/below.yaml: {message}")):
        Settings.read(path)


def test_a_file_of_something_else_and_one_that_leads_back_to_itself(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"mine\.yaml: is not yaml"):
        Settings.read(path)
    path.write_text("training: &a {steps: *a}")
    with pytest.raises(UsageError, match="an alias refers to what it is in"):
        Settings.read(path)
    path.write_text("")
    with pytest.raises(UsageError, match="must have names and values"):
        Settings.read(path)


def test_what_comes_twice_by_an_alias_or_in_two_sections_is_no_repetition(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("training: &a {seed: 3}\ndata: {seed: 4}\nbatches: {<<: *a}")
    with pytest.raises(UsageError, match=r"batches\.seed: there is no such setting"):
        Settings.read(path)
    path.write_text("training: {seed: 3}\ndata: {seed: 4}")
    assert Settings.read(path).data.seed == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("steps=3", "a change must be section.name=value, such as training.steps=500, got 'st"),
        ("training.steps", "a change must be section.name=value"),
        ("training.step=3", "training.step: there is no such setting; did you mean steps?"),
        ("base.x=1", "base: there is no such setting"),
    ],
)
def test_changes_are_checked_like_files(change, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        Settings.changed({}, [change])


def test_a_name_that_does_not_ship():
    message = "omniglott: there is no such file or folder; did you mean omniglot, which"
    with pytest.raises(UsageError, match=message):
        Settings.read("omniglott")
    message = (
        "photos.yaml: there is no such file or folder; the configurations of the package are: "
        "cifar100, "
    )
    with pytest.raises(UsageError, match=message):
        Settings.read("photos.yaml")
