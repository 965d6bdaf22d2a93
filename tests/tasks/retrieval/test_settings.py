from __future__ import annotations

import pytest
from tests.tasks.retrieval.cases import settings

from rankwise.errors import UsageError
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
