"""What cannot be is refused by name; bad values of files are in the tests of the configurations."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError
from tests.tasks.detection.cases import settings

from rankwise.data.detection import KINDS
from rankwise.errors import UsageError
from rankwise.tasks.detection.settings import (
    Augmentations,
    Data,
    Network,
    Objective,
    Selection,
    Settings,
    Training,
)
from rankwise.tasks.detection.task import make_loss


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Data(test=()), "data.train and data.test must each name at least one list"),
        (lambda: Data(seed=-1), "data.seed must be a whole number"),
        (
            lambda: Data(validation_share=float("nan")),
            "data.validation_share must be in (0, 1), got nan",
        ),
        (lambda: Network(frozen=-1), "network.frozen must be a whole number >= 0, got -1"),
        (lambda: Network(width=0), "network.width must be a whole number >= 8, got 0"),
        (lambda: Network(width=20), "network.width must be a multiple of 8, got 20"),
        (lambda: Network(depth=-1), "network.depth must be a whole number >= 0, got -1"),
        (lambda: Network(depth=True), "network.depth must be a whole number >= 0, got True"),
        (lambda: Network(levels=(2, 4)), "network.levels must double from 4, 8, 16 or 32 to at m"),
        (lambda: Network(levels=(64, 32)), "to at most 128, got [64, 32]"),
        (lambda: Network(levels=(32, 64, 128, 256)), "got [32, 64, 128, 256]"),
        (
            lambda: Augmentations(width=31),
            "augmentations.width must be a whole number >= 32, got 31",
        ),
        (
            lambda: Augmentations(test_side=31),
            "augmentations.test_side must be a whole number >= 32, got 31",
        ),
        (
            lambda: Augmentations(expand=float("inf")),
            "augmentations.expand must be a finite number",
        ),
        (lambda: Objective(bias_weight=-1.0), "objective.bias_weight must be a finite number >= 0"),
        (
            lambda: Objective(classification_weight=float("nan")),
            "objective.classification_weight must be a finite number >= 0, got nan",
        ),
        (lambda: Objective(warm_start=-2), "objective.warm_start must be a whole number >= 0"),
        (
            lambda: Selection(candidates=0),
            "selection.candidates must be a whole number >= 1, got 0",
        ),
        (lambda: Selection(maximum=0), "selection.maximum must be a whole number >= 1, got 0"),
        (lambda: Selection(max_iou=-0.1), "selection.max_iou must be in [0, 1], got -0.1"),
        (lambda: Training(steps=0), "training.steps must be a whole number >= 1, got 0"),
        (lambda: Training(validate_every=0), "training.validate_every must be a whole number >= 1"),
        (lambda: Training(warm_up=-1), "training.warm_up must be a whole number >= 0, got -1"),
        (lambda: Training(seed=-1), "training.seed must be a whole number"),
        (lambda: Training(precision="half"), "training.precision must be one of float32, bfloat16"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    "levels", [(4,), (32,), (4, 8, 16, 32, 64, 128), (8, 16, 32), (32, 64, 128)]
)
def test_levels_that_double(levels):
    assert Network(levels=list(levels)).levels == levels


def test_the_edges_of_what_can_be():
    assert Selection(max_iou=0).max_iou == 0
    assert Selection(max_iou=1, candidates=1, maximum=1).candidates == 1
    assert Augmentations(expand=1, height=32, width=32, test_side=32).expand == 1
    assert Objective(box_weight=0, bias_weight=0, classification_weight=0).box_weight == 0
    assert Network(depth=0, width=8, frozen=0).depth == 0
    assert Network(backbone="convnext").backbone == "convnext"


def test_lists_and_tuples_are_the_same_settings():
    assert Data(train=["a", "b"], test=["c"]) == Data(train=("a", "b"), test=("c",))
    assert Network(levels=[8, 16]) == Network(levels=(8, 16))


def test_lists_for_each_class_give_out_the_best_of_each_class():
    assert not Settings().selection.per_class
    apart = settings(objective={"pooled": False}, selection={"maximum": 7})
    assert apart.selection == Selection(maximum=7, per_class=True)
    assert Settings(
        selection=Selection(per_class=True)
    ).selection.per_class  # may be asked for without
    again = apart.replace(training=apart.training.replace(steps=9))
    assert again.selection == apart.selection


def test_the_short_name_of_an_objective():
    assert Objective(name="stable_ap(a=.1, t=2)").short == "stable_ap"
    assert Objective(name="focal").short == "focal"


def test_settings_do_not_change_nor_share_anything():
    one, other = Settings(), Settings()
    assert one == other
    assert one.network.options is not other.network.options
    with pytest.raises(ValidationError):
        one.network = Network()
    with pytest.raises(ValidationError):
        one.training.steps = 3


def test_plain_momentum_unless_it_is_said():
    assert Settings().optimizer.s == 0
    assert settings(optimizer={"s": 1.0}).optimizer.s == 1


@pytest.mark.parametrize(
    "made",
    [
        Settings(),
        settings(),
        settings(
            objective={"pooled": False}, training={"clip": 2.5}, augmentations={"test_side": 48}
        ),
        settings(data={"kind": "coco", "root": "a b", "validation": ["val 1"]}),
    ],
    ids=["defaults", "small", "by class", "data"],
)
def test_settings_come_back_from_what_is_written(tmp_path, made):
    (tmp_path / "config.yaml").write_text(made.as_yaml())
    assert Settings.read(tmp_path / "config.yaml") == made


def test_one_configuration_of_each_data_set_ships():
    assert sorted(Settings.shipped()) == ["bccd", "bccd_small", "bccd_two_stage", "coco", "voc"]


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
        ("objective.regions=focal", "objective.regions is for network.stages: 2, got focal with"),
        ("network.stages=3", "network.stages must be one of 1, 2"),
        ("network.proposals=0", "network.proposals must be a whole number >= 1, got 0"),
        ("network.region_width=0", "network.region_width must be a whole number >= 1, got 0"),
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
