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
