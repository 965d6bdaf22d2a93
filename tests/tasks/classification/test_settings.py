from __future__ import annotations

import pytest

from rankwise.errors import UsageError
from rankwise.tasks.classification.network import make_classifier
from rankwise.tasks.classification.settings import Settings


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
    eighteen = make_classifier(Settings.read("cifar10_lt"), 1)
    count = sum(p.numel() for p in eighteen.backbone.parameters())
    assert 11.1e6 < count < 11.2e6  # ResNet-18 without its last layer: 11.18 million
    assert eighteen.projection.out_features == 1
