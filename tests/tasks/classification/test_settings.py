from __future__ import annotations

import copy
import re

import pytest
import torch
from tests.tasks.classification.cases import SMALL

from rankwise.data.images.readers import CLASS_KINDS
from rankwise.errors import UsageError
from rankwise.tasks.classification.losses import ClassificationLoss
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import Classifier


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("data.imbalance=0.5", r"data\.imbalance must be a finite number >= 1"),
        ("data.test_share=0", r"data\.test_share must be in \(0, 1\)"),
        ("data.validation_share=0.9", r"data\.validation_share must be 0 or a share that leaves"),
        ("data.positive_share=2", r"data\.positive_share must be in \(0, 1\)"),
        ("data.max_fpr=0", r"data\.max_fpr must be in \(0, 1\)"),
        ("data.tail_in=test", r"data\.tail_in must be one of all, train"),
        ("network.head=round", r"network\.head must be one of auto, linear, cosine"),
        ("network.backbone=resnett", r"network\.backbone must be one of"),
        ("batches.positives=64", r"batches\.positives must be less than batches\.size, 64"),
        ("batches.per_class=7", r"batches\.size must be a multiple of batches\.per_class, 7"),
        ("objective.warm_start=-1", r"objective\.warm_start must be a whole number >= 0"),
        ("training.stepps=3", "there is no such setting; did you mean steps"),
    ],
)
def test_what_cannot_be_is_said(change, message):
    with pytest.raises(UsageError, match=message):
        Settings.changed({}, [change])


@pytest.mark.parametrize("name", Settings.shipped())
def test_what_ships_is_read_and_written_again(name, tmp_path):
    settings = Settings.read(name)
    assert settings.training.steps > settings.objective.warm_start
    (tmp_path / "again.yaml").write_text(settings.as_yaml())
    assert Settings.read(tmp_path / "again.yaml") == settings


def test_names_that_ship():
    assert {"cifar10_lt", "cifar100_lt", "fashion_mnist_lt", "chestxray14", "medmnist"} < set(
        Settings.shipped()
    )
    with pytest.raises(UsageError, match="did you mean medmnist"):
        Settings.read("medmnistt")


def test_cosines_are_for_ldam_unless_it_is_said():
    assert Settings.changed({}, ["objective.name=ldam(defer=3)"]).cosine
    assert not Settings.changed({}, ["objective.name=ldam", "network.head=linear"]).cosine
    assert Settings.changed({}, ["network.head=cosine"]).cosine
    assert not Settings().cosine


def test_the_papers_networks():
    eighteen = Classifier(Settings.read("cifar10_lt"), 1)
    count = sum(p.numel() for p in eighteen.backbone.parameters())
    assert 11.1e6 < count < 11.2e6  # ResNet-18 without its last layer: 11.18 million
    assert eighteen.projection.out_features == 1


@pytest.mark.parametrize("name", Settings.shipped())
def test_what_ships_can_be_trained(name):
    found = Settings.read(name)
    assert found.data.kind in CLASS_KINDS
    classes = 2 if found.data.positive else 4
    target = torch.arange(40) % classes
    ClassificationLoss(found.objective, target, classes, cosine=found.cosine)
    assert found.batches.positives is None or classes == 2


def test_what_others_are_built_on_is_no_name_of_its_own():
    kept = {path.stem for path in Settings.configs.glob("*.yaml")}
    hidden = kept - set(Settings.shipped())
    assert set(Settings.shipped()) < kept
    assert hidden
    assert all(name.startswith("_") for name in hidden)
    used = "".join((Settings.configs / f"{name}.yaml").read_text() for name in kept)
    assert all(f"base: {name}.yaml" in used for name in hidden)


def test_a_file_of_ones_own_says_only_what_is_different(tmp_path):
    (tmp_path / "base.yaml").write_text(
        "data: {kind: cifar, positive: [cat, dog]}\ntraining: {steps: 7, seed: 3}\n"
    )
    mine = tmp_path / "mine.yaml"
    mine.write_text("base: base.yaml\ntraining: {steps: 9}\nnetwork: {head: cosine}\n")
    found = Settings.read(mine, ["data.imbalance=1e2", "batches.positives=8"])
    assert (found.training.steps, found.training.seed) == (9, 3)
    assert found.data.positive == ("cat", "dog")
    assert found.data.imbalance == 100
    assert found.batches.positives == 8
    assert found.cosine
    assert Settings.read(str(mine)).batches == Settings().batches


def test_a_change_is_of_what_ships_and_leaves_it_as_it_is():
    plain = Settings.read("cifar10_lt_small")
    changed = Settings.read("cifar10_lt_small", [f"training.steps={plain.training.steps + 1}"])
    assert changed.training.steps == plain.training.steps + 1
    assert (changed.data, changed.network, changed.optimizer) == (
        plain.data,
        plain.network,
        plain.optimizer,
    )
    assert Settings.read("cifar10_lt_small") == plain


def test_sections_that_are_given_are_not_changed_themselves():
    before = copy.deepcopy(SMALL)
    found = Settings.changed(SMALL, ["training.steps=9", "network.head=linear", "data.seed=4"])
    assert (found.training.steps, found.network.head, found.data.seed) == (9, "linear", 4)
    assert before == SMALL
    assert Settings.changed({}) == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("batches: {classes: 3}", "batches.classes: there is no such setting"),  # retrieval's
        ("mixup: {stages: 2}", "mixup: there is no such setting"),
        ("network: {dimension: 8}", "network.dimension: there is no such setting"),
        ("data: {positive: cat}", "data.positive must be a list in brackets, got 'cat'"),
        ("data: {imbalance: steep}", "data.imbalance must be a finite number >= 1, got 'steep'"),
        ("data: {test_share: 2}", "data.test_share must be in (0, 1), got 2"),
        ("batches: {size: 8.5}", "batches.size must be a whole number >= 2, got 8.5"),
    ],
)
def test_what_is_wrong_names_the_file_and_the_setting(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        Settings.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
