"""Files of settings; those that ship are checked against what the papers print."""

from __future__ import annotations

import itertools
import re

import pytest
import torch
from tests.tasks.retrieval.cases import SMALL

from rankwise.data.images import KINDS
from rankwise.tasks.retrieval.config import (
    CONFIGS,
    as_yaml,
    quoted,
    read_settings,
    shipped,
    with_changes,
)
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.settings import Settings, UsageError

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
HERE = ["omniglot", "cifar100", "fashion_mnist"]
# Learning rate, milestones, factor, steps: SOPRC 5.1, StableAP 7.1.1.2 (4).
PRINTED = {
    ("soprc", "sop"): (0.01, (15_000, 30_000), 0.1, 50_000),
    ("soprc", "vehicleid"): (0.001, (40_000, 80_000), 0.1, 100_000),
    ("soprc", "inaturalist"): (0.001, (80_000, 110_000), 0.1, 130_000),
    ("stable_ap", "sop"): (0.003, (60_000, 80_000), 0.1, 100_000),
    ("stable_ap", "vehicleid"): (0.01, (120_000, 150_000), 0.3, 160_000),
    ("stable_ap", "inaturalist"): (0.001, (150_000, 220_000), 0.3, 270_000),
}


def test_every_column_of_the_tables_ships():
    assert len(COLUMNS) == 63
    assert sorted(shipped()) == sorted([*COLUMNS, *ABLATIONS, *HERE])


@pytest.mark.parametrize("name", shipped())
def test_what_ships_can_be_trained(name):
    found = read_settings(name)
    assert found.data.kind in KINDS
    labels = torch.arange(400) // 4
    mixes = found.mixup.stages > 0
    RetrievalLoss(found.objective, found.memory, labels, found.network.dimension, mixes=mixes)
    assert (CONFIGS / f"{name}.yaml").read_text().startswith("# ")


@pytest.mark.parametrize("name", COLUMNS)
def test_the_settings_are_the_printed_ones(name):
    found = read_settings(name)
    paper = "soprc" if name.startswith("soprc_") else "stable_ap"
    data, method = name.removeprefix(f"{paper}_").split("_", 1)
    rate, milestones, factor, steps = PRINTED[paper, data]
    assert found.data.kind == data
    optimiser = found.optimiser
    assert (optimiser.learning_rate, optimiser.milestones) == (rate, milestones)
    assert (optimiser.factor, found.training.steps) == (factor, steps)
    assert (found.network.backbone, found.network.freeze_batch_norm) == ("resnet", True)
    assert (found.views.resize, found.views.crop, found.views.flip) == (256, 224, True)
    assert found.batches.per_class == 4
    if paper == "soprc":
        assert found.batches.classes * 4 == 224
        assert (found.network.dimension, optimiser.weight_decay) == (512, 4e-4)
        assert (found.views.square, found.views.rotation) == (False, 0)
        assert optimiser.name == ("sgd" if method == "soprc" else "adam")
        assert bool(found.memory.size) == (method == "xbm")
    else:
        assert found.batches.classes * 4 == 112
        assert (found.network.dimension, optimiser.weight_decay) == (256, 4e-5)
        assert (found.views.square, found.views.rotation) == (True, 15)
        assert (optimiser.name, optimiser.momentum, optimiser.s) == ("sgd", 0.9, 1.0)
        proposed = method == "stable_ap"
        assert found.mixup.stages == (2 if proposed else 0)
        assert found.objective.previous == proposed


def test_the_proposed_losses_have_the_printed_numbers():
    soprc = read_settings("soprc_sop_soprc").objective.name
    for part in ("tau_fpr=.1", "tau_tpr=.001", "beta=.001", "semi_variance=[1, 5]"):
        assert part in soprc
    stable = read_settings("stable_ap_sop_stable_ap").objective.name
    for part in ("a=.1", "t=2", "lam=.01"):
        assert part in stable
    one = read_settings("stable_ap_sop_ablation_4").objective.name
    assert one == stable.replace("t=2", "t=1")


def test_a_file_says_only_what_is_different(tmp_path):
    (tmp_path / "base.yaml").write_text("training: {steps: 7, seed: 3}\nviews: {crop: 100}\n")
    (tmp_path / "mine.yaml").write_text("base: base.yaml\ntraining: {steps: 9}\n")
    found = read_settings(tmp_path / "mine.yaml", ["views.flip=false", "optimiser.s=0"])
    assert (found.training.steps, found.training.seed, found.views.crop) == (9, 3, 100)
    assert found.views.flip is False
    assert found.optimiser.s == 0.0
    assert read_settings(tmp_path / "base.yaml").training.steps == 7


def test_settings_come_back_from_what_is_written(tmp_path):
    for found in (Settings(), with_changes(SMALL, []), read_settings("stable_ap_sop_stable_ap")):
        (tmp_path / "config.yaml").write_text(as_yaml(found))
        assert read_settings(tmp_path / "config.yaml") == found


def test_a_number_without_a_point_is_a_number():
    assert with_changes({}, ["optimiser.learning_rate=1e-4"]).optimiser.learning_rate == 1e-4


def test_any_path_can_be_a_root():
    path = "a: b/#c 'd' \"e\" ü"
    assert with_changes({}, [f"data.root={quoted(path)}"]).data.root == path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trainning: {steps: 3}", "trainning: there is no such setting; did you mean training?"),
        ("training: {stepps: 3}", "training.stepps: there is no such setting; did you mean steps?"),
        ("qqq: 3", "qqq: there is no such setting; there are data, network"),
        ("training: {steps: many}", "training.steps must be a whole number, got 'many'"),
        ("training: {steps: true}", "training.steps must be a whole number, got True"),
        ("training: {steps: 0}", "training.steps must be a whole number >= 1, got 0"),
        ("training: 3", "training must have names and values, got 3"),
        ("optimiser: {learning_rate: fast}", "optimiser.learning_rate must be a number, got 'fa"),
        ("optimiser: {milestones: 3}", "optimiser.milestones must be a list in brackets, got 3"),
        ("views: {flip: 1}", "views.flip must be true or false, got 1"),
        ("network: {options: 3}", "network.options must have names and values, got 3"),
        ("objective: {name: 3}", "objective.name must be words, got 3"),
        ("- 1", "must have names and values, such as training"),
        ("a: [", "is not yaml"),
        ("training: {steps: 3}\nviews: {}\ntraining: {seed: 1}", "line 3: training is there alre"),
        ("training: {steps: 3, steps: 4}", "line 1: steps is there already, on line 1"),
        ("network: {options: {a: [{b: 1, b: 2}]}}", "line 1: b is there already"),
        ("base: nowhere.yaml", "base: nowhere.yaml is no file beside this one"),
        ("base: mine.yaml", "base: mine.yaml goes round in circles"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_file(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        read_settings(path)
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
        read_settings(path)


def test_a_file_of_something_else_and_one_that_leads_back_to_itself(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"mine\.yaml: is not yaml"):
        read_settings(path)
    path.write_text("training: &a {steps: *a}")
    with pytest.raises(UsageError, match=r"training\.steps must be a whole number"):
        read_settings(path)
    path.write_text("")
    with pytest.raises(UsageError, match="must have names and values"):
        read_settings(path)


def test_what_comes_twice_by_an_alias_or_in_two_sections_is_no_repetition(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("training: &a {seed: 3}\ndata: {seed: 4}\nbatches: {<<: *a}")
    with pytest.raises(UsageError, match=r"batches\.seed: there is no such setting"):
        read_settings(path)
    path.write_text("training: {seed: 3}\ndata: {seed: 4}")
    assert read_settings(path).data.seed == 4


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
        with_changes({}, [change])


def test_a_name_that_does_not_ship():
    message = "soprc_sop_tripplet: there is no such file; did you mean soprc_sop_triplet, which"
    with pytest.raises(UsageError, match=message):
        read_settings("soprc_sop_tripplet")
