"""What cannot be is refused by name; bad values of files are in the tests of the configurations."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError
from tests.tasks.detection.cases import settings

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
