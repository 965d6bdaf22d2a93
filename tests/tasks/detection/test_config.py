"""What ships is what the paper prints, and can be trained."""

from __future__ import annotations

import pytest

from rankwise.data.detection import KINDS
from rankwise.tasks.detection.config import CONFIGS, read_settings, shipped
from rankwise.tasks.detection.learner import make_loss
from rankwise.tasks.detection.settings import UsageError

TABLE_5 = {  # rows of one stage and the same detector, by the names of their losses here
    "focal": "focal",
    "ap_loss": "error_driven_ap",
    "dr": "dr",
    "alrp": "alrp",
    "stable_ap": "stable_ap",
}
PICTURES = {"coco": 118_287 - 1_183, "voc": 16_551}


def test_every_row_of_the_table_ships():
    rows = [f"{data}_{method}" for data in PICTURES for method in TABLE_5]
    assert sorted(shipped()) == sorted([*rows, "bccd", "bccd_small"])


@pytest.mark.parametrize("name", shipped())
def test_what_ships_can_be_trained(name):
    found = read_settings(name)
    assert found.data.kind in KINDS
    make_loss(found.objective, 3)
    assert (CONFIGS / f"{name}.yaml").read_text().startswith("# ")


@pytest.mark.parametrize("data", PICTURES)
@pytest.mark.parametrize("method", TABLE_5)
def test_the_settings_are_the_printed_ones(data, method):
    """StableAP 7.2.1.2."""
    found = read_settings(f"{data}_{method}")
    assert found.data.kind == data
    assert found.objective.short == TABLE_5[method]
    assert (found.network.backbone, found.network.freeze_batch_norm) == ("resnet", True)
    assert len(found.network.levels) == 4
    assert (found.views.height, found.views.width, found.views.test_side) == (512, 512, 500)
    assert found.views.flip
    assert found.views.crop
    assert found.views.colours
    assert (found.objective.box_weight, found.objective.bias_weight) == (2, 0.001)
    assert found.objective.bias_form == "sum"
    optimiser = found.optimiser
    assert (optimiser.name, optimiser.momentum, optimiser.s) == ("sgd", 0.9, 0)
    assert (optimiser.learning_rate, optimiser.factor) == (0.008, 0.1)
    assert found.training.batch == 32
    epoch = -(-PICTURES[data] // 32)
    assert optimiser.milestones == (75 * epoch, 95 * epoch)
    assert found.training.steps == 100 * epoch
    assert (found.found.before, found.found.overlap) == (1000, 0.6)


def test_a_list_for_each_class_goes_with_the_best_of_each_class():
    assert not read_settings("bccd").found.by_class
    assert read_settings("bccd", ["objective.pooled=false"]).found.by_class


def test_changes_and_wrong_names():
    assert read_settings("bccd", ["training.steps=7"]).training.steps == 7
    with pytest.raises(UsageError, match="did you mean bccd"):
        read_settings("bcd")
    with pytest.raises(UsageError, match="did you mean anchor_scale"):
        read_settings("bccd", ["network.anchor_size=7"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("network.levels=[8,32]", "must double"),
        ("network.levels=[]", "must double"),
        ("network.levels=[128,256]", "must double"),
        ("network.width=12", "multiple of 8"),
        ("network.backbone=vit", "network.backbone must be one of"),
        ("network.anchor_scale=0", "anchor_scale"),
        ("views.expand=0.5", "at least 1"),
        ("views.height=8", "views.height"),
        ("objective.bias_form=max", "sum, mean"),
        ("objective.box_weight=-1", "box_weight"),
        ("found.overlap=2", "found.overlap"),
        ("training.clip=0", "training.clip"),
        ("training.batch=0", "training.batch"),
        ("data.train=[]", "at least one list"),
        ("data.validation_share=1", "validation_share"),
    ],
)
def test_bad_settings_are_named(change, words):
    with pytest.raises(UsageError, match=words):
        read_settings("bccd", [change])
