"""The configurations of the papers' tables have the printed settings."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

import reproductions
from rankwise.tasks.classification.settings import Settings as Classification
from rankwise.tasks.classification.task import Classifier
from rankwise.tasks.detection.settings import Settings as Detection
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.settings import Settings as Retrieval
from reproductions.longtail.problems import FRUIT, INSECTS, LARGE_MAMMALS

CONFIGS = Path(reproductions.__file__).parent / "configs"
SETS = ("sop", "vehicleid", "inaturalist")
BOTH = ("contrastive", "triplet", "multi_similarity", "smooth_ap", "dir", "fast_ap", "blackbox")
TABLES = {  # the columns of Table 1 of SOPRC and of Table 2 of StableAP
    "soprc": (*BOTH, "xbm", "auroc", "soprc"),
    "stable_ap": (*BOTH, "sodeep", "auc_sigmoid", "auc_huber", "stable_ap"),
}
COLUMNS = [
    f"{paper}_{data}_{method}"
    for paper, methods in TABLES.items()
    for data, method in itertools.product(SETS, methods)
]
ABLATIONS = [f"soprc_ablation_{line}" for line in (1, 2, 3, 5)]
ABLATIONS += [f"stable_ap_{d}_ablation_{n}" for d in ("sop", "inaturalist") for n in range(1, 5)]
SHIPPED = {f"soprc_{data}_soprc": data for data in SETS}  # in the library, by the data set's name
# Learning rate, milestones, factor, steps: SOPRC 5.1, StableAP 7.1.1.2 (4).
PRINTED = {
    ("soprc", "sop"): (0.01, (15_000, 30_000), 0.1, 50_000),
    ("soprc", "vehicleid"): (0.001, (40_000, 80_000), 0.1, 100_000),
    ("soprc", "inaturalist"): (0.001, (80_000, 110_000), 0.1, 130_000),
    ("stable_ap", "sop"): (0.003, (60_000, 80_000), 0.1, 100_000),
    ("stable_ap", "vehicleid"): (0.01, (120_000, 150_000), 0.3, 160_000),
    ("stable_ap", "inaturalist"): (0.001, (150_000, 220_000), 0.3, 270_000),
}


def _source(name: str) -> Path | str:
    return SHIPPED.get(name, CONFIGS / "retrieval" / f"{name}.yaml")


def _names(task: str) -> list[str]:
    found = (CONFIGS / task).glob("*.yaml")
    return sorted(path.stem for path in found if not path.stem.startswith("_"))


def test_every_column_of_the_retrieval_tables_has_a_configuration():
    assert len(COLUMNS) == 63
    assert _names("retrieval") == sorted({*COLUMNS, *ABLATIONS} - set(SHIPPED))
    assert set(SHIPPED.values()) < set(Retrieval.shipped())


@pytest.mark.parametrize("name", [*COLUMNS, *ABLATIONS])
def test_a_retrieval_configuration_can_be_trained(name):
    found = Retrieval.read(_source(name))
    labels = torch.arange(400) // 4
    RetrievalLoss(found, labels)


@pytest.mark.parametrize("name", COLUMNS)
def test_the_retrieval_settings_are_the_printed_ones(name):
    found = Retrieval.read(_source(name))
    paper = "soprc" if name.startswith("soprc_") else "stable_ap"
    data, method = name.removeprefix(f"{paper}_").split("_", 1)
    rate, milestones, factor, steps = PRINTED[paper, data]
    assert found.data.kind == data
    optimizer = found.optimizer
    assert (optimizer.learning_rate, optimizer.milestones) == (rate, milestones)
    assert (optimizer.factor, found.training.steps) == (factor, steps)
    assert (found.network.backbone, found.network.freeze_batch_norm) == ("resnet", True)
    assert (found.augmentations.resize, found.augmentations.crop, found.augmentations.flip) == (
        256,
        224,
        True,
    )
    assert found.batches.per_class == 4
    if paper == "soprc":
        assert found.batches.classes * 4 == 224
        assert (found.network.dimension, optimizer.weight_decay) == (512, 4e-4)
        assert (found.augmentations.square, found.augmentations.rotation) == (False, 0)
        assert optimizer.name == ("sgd" if method == "soprc" else "adam")
        assert bool(found.memory.size) == (method == "xbm")
    else:
        assert found.batches.classes * 4 == 112
        assert (found.network.dimension, optimizer.weight_decay) == (256, 4e-5)
        assert (found.augmentations.square, found.augmentations.rotation) == (True, 15)
        assert (optimizer.name, optimizer.momentum, optimizer.s) == ("sgd", 0.9, 1.0)
        proposed = method == "stable_ap"
        assert found.mixup.stages == (2 if proposed else 0)
        assert found.objective.previous == proposed


def test_the_proposed_losses_have_the_printed_numbers():
    soprc = Retrieval.read("sop").objective.name
    for part in ("tau_fpr=.1", "tau_tpr=.001", "ema_rate=.001", "semi_variance=[1, 5]"):
        assert part in soprc
    stable = Retrieval.read(_source("stable_ap_sop_stable_ap")).objective.name
    for part in ("a=.1", "t=2", "ema_rate=.01"):
        assert part in stable
    one = Retrieval.read(_source("stable_ap_sop_ablation_4")).objective.name
    assert one == stable.replace("t=2", "t=1")


TABLE_5 = {  # rows of one stage and the same detector, by the names of their losses here
    "focal": "focal",
    "ap_loss": "error_driven_ap",
    "dr": "dr",
    "alrp": "alrp",
    "stable_ap": "stable_ap",
}
FASTER = {  # the losses of the first stage and of the regions; None is cross-entropy
    "ce": ("cross_entropy", None),
    "alrp": ("alrp", "alrp"),
    "stable_ap": ("stable_ap", "stable_ap(ema_rate=.01)"),
}
IMAGES = {"coco": 118_287 - 1_183, "voc": 16_551}


def test_every_row_of_the_detection_table_has_a_configuration():
    rows = {f"{data}_{method}" for data in IMAGES for method in TABLE_5 if method != "stable_ap"}
    assert _names("detection") == sorted(rows | {f"coco_faster_{method}" for method in FASTER})
    assert set(IMAGES) < set(Detection.shipped())


@pytest.mark.parametrize("method", FASTER)
def test_the_rows_of_two_stages_differ_in_their_stages_and_losses(method):
    found = Detection.read(CONFIGS / "detection" / f"coco_faster_{method}.yaml")
    assert found.network.stages == 2
    assert (found.objective.short, found.objective.regions) == FASTER[method]
    assert found.objective.previous == (method == "stable_ap")
    one = Detection.read("coco")
    losses = {"name": one.objective.name, "previous": True, "regions": None}
    same = found.replace(
        network=found.network.replace(stages=1), objective=found.objective.replace(**losses)
    )
    assert same == one


@pytest.mark.parametrize("data", IMAGES)
@pytest.mark.parametrize("method", TABLE_5)
def test_the_detection_settings_are_the_printed_ones(data, method):
    """StableAP 7.2.1.2."""
    path = CONFIGS / "detection" / f"{data}_{method}.yaml"
    found = Detection.read(data if method == "stable_ap" else path)
    assert found.data.kind == data
    assert found.objective.short == TABLE_5[method]
    assert (found.network.backbone, found.network.freeze_batch_norm) == ("resnet", True)
    assert len(found.network.levels) == 4
    assert (
        found.augmentations.height,
        found.augmentations.width,
        found.augmentations.test_side,
    ) == (512, 512, 500)
    assert found.augmentations.flip
    assert found.augmentations.crop
    assert found.augmentations.colors
    assert (found.objective.box_weight, found.objective.bias_weight) == (2, 0.001)
    assert found.objective.bias_form == "sum"
    assert found.objective.previous == (method == "stable_ap")  # Algorithm 1
    optimizer = found.optimizer
    assert (optimizer.name, optimizer.momentum, optimizer.s) == ("sgd", 0.9, 0)
    assert (optimizer.learning_rate, optimizer.factor) == (0.008, 0.1)
    assert found.training.batch == 32
    epoch = -(-IMAGES[data] // 32)
    assert optimizer.milestones == (75 * epoch, 95 * epoch)
    assert found.training.steps == 100 * epoch
    assert (found.selection.candidates, found.selection.max_iou) == (1000, 0.6)


@pytest.mark.parametrize(
    ("name", "positive"),
    [
        ("cifar10_lt_automobile", ("automobile",)),
        ("cifar10_lt_bird", ("bird",)),
        ("cifar10_lt_cat", ("cat",)),
        ("cifar100_lt_fruit", FRUIT),
        ("cifar100_lt_insects", INSECTS),
        ("cifar100_lt_large_mammals", LARGE_MAMMALS),
    ],
)
def test_the_binary_long_tails_have_the_papers_network(name, positive):
    found = Classification.read(CONFIGS / "classification" / f"{name}.yaml")
    assert found.data.positive == positive
    network = Classifier(found, 1)
    count = sum(p.numel() for p in network.backbone.parameters())
    assert 11.1e6 < count < 11.2e6  # ResNet-18 without its last layer: 11.18 million
    assert network.projection.out_features == 1
