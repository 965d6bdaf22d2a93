"""What ships is what the paper prints, and can be trained."""

from __future__ import annotations

import pytest

from rankwise.data.detection import KINDS
from rankwise.errors import UsageError
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.detection.task import make_loss


def test_one_configuration_of_each_data_set_ships():
    assert sorted(Settings.shipped()) == ["bccd", "bccd_small", "coco", "voc"]


@pytest.mark.parametrize("name", Settings.shipped())
def test_what_ships_can_be_trained(name):
    found = Settings.read(name)
    assert found.data.kind in KINDS
    make_loss(found.objective, 3)
    assert (Settings.configs / f"{name}.yaml").read_text().startswith("# ")


def test_a_list_for_each_class_goes_with_the_best_of_each_class():
    assert not Settings.read("bccd").selection.per_class
    assert Settings.read("bccd", ["objective.pooled=false"]).selection.per_class


def test_changes_and_wrong_names():
    assert Settings.read("bccd", ["training.steps=7"]).training.steps == 7
    with pytest.raises(UsageError, match="did you mean bccd"):
        Settings.read("bcd")
    with pytest.raises(UsageError, match="did you mean anchor_scale"):
        Settings.read("bccd", ["network.anchor_size=7"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("network.levels=[8,32]", "must double"),
        ("network.levels=[]", "must double"),
        ("network.levels=[128,256]", "must double"),
        ("network.width=12", "multiple of 8"),
        ("network.backbone=vit", "network.backbone must be one of"),
        ("network.anchor_scale=0", "anchor_scale"),
        ("augmentations.expand=0.5", "augmentations.expand must be a finite number >= 1"),
        ("augmentations.height=8", "augmentations.height"),
        ("objective.bias_form=max", "sum, mean"),
        ("objective.box_weight=-1", "box_weight"),
        ("selection.max_iou=2", "selection.max_iou"),
        ("training.clip=0", "training.clip"),
        ("training.batch=0", "training.batch"),
        ("data.train=[]", "at least one list"),
        ("data.validation_share=1", "validation_share"),
    ],
)
def test_bad_settings_are_named(change, words):
    with pytest.raises(UsageError, match=words):
        Settings.read("bccd", [change])
