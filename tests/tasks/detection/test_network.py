"""Backbones, pyramid and head: shapes, anchors, what is frozen, where scores start."""

from __future__ import annotations

import math

import pytest
import torch
from tests.tasks.detection.cases import settings

from rankwise.errors import UsageError
from rankwise.tasks.detection.network import (
    Detector,
    MobileFeatures,
    SmallFeatures,
    make_features,
)
from rankwise.tasks.detection.settings import Network
from rankwise.tasks.detection.task import new_detector

TINY_RESNET = {
    "depths": [1, 1, 1, 1],
    "hidden_sizes": [8, 8, 16, 16],
    "embedding_size": 8,
    "layer_type": "basic",
}


@pytest.mark.parametrize(
    "network",
    [
        Network(backbone="small", options={"width": 8}, levels=(4, 8, 16, 32), width=8, depth=1),
        Network(backbone="mobilenet_v2", levels=(8, 16, 32, 64), width=8, depth=0),
        Network(backbone="resnet", options=TINY_RESNET, levels=(8, 16), width=8, depth=1),
    ],
    ids=lambda network: network.backbone,
)
def test_an_anchor_for_every_place_of_every_level(network):
    detector = Detector(network, 3).eval()
    with torch.no_grad():
        dense = detector(torch.rand(2, 3, 64, 96))
    levels = [(-(-64 // stride)) * (-(-96 // stride)) for stride in network.levels]
    assert dense.anchors.levels == tuple(levels)
    assert dense.logits.shape == (2, sum(levels), 3)
    assert dense.regression.shape == (2, sum(levels), 4)
    side = dense.anchors.boxes[0, 2] - dense.anchors.boxes[0, 0]
    assert float(side) == network.anchor_scale * network.levels[0]
    assert dense.logits.isfinite().all()


def test_an_anchor_scores_what_is_at_its_place():
    """A change in one corner of the picture changes the fine scores most in that corner."""
    torch.manual_seed(0)
    detector = Detector(
        Network(backbone="small", options={"width": 8}, levels=(8,), width=8), 2
    ).eval()
    picture = torch.rand(1, 3, 128, 160)
    other = picture.clone()
    other[..., 96:, 128:] = 0
    with torch.no_grad():
        moved = (detector(picture).logits - detector(other).logits).abs().sum(-1)[0]
    x, y = detector(picture).anchors.centers[int(moved.argmax())].tolist()
    assert x > 112
    assert y > 80


@pytest.mark.parametrize(
    ("name", "start"),
    [("focal", -math.log(99)), ("dr", -math.log(99)), ("stable_ap", 0.0), ("alrp", 0.0)],
)
def test_losses_that_feel_a_shift_start_from_rare_objects(name, start):
    detector = new_detector(settings(objective={"name": name}), 2)
    assert detector.head.scores.bias.tolist() == pytest.approx([start, start])


def test_a_warm_start_by_focal_loss_starts_from_rare_objects():
    detector = new_detector(settings(objective={"warm_start": 3}), 2)
    assert detector.head.scores.bias[0] < -4


def test_frozen_parts_and_batch_norms_stay_as_they_are():
    network = Network(backbone="mobilenet_v2", frozen=2, levels=(8, 16), width=8, depth=0)
    detector = Detector(network, 2).train()
    stem, *stages = detector.features.parts()
    assert not any(p.requires_grad for part in (stem, stages[0]) for p in part.parameters())
    assert any(p.requires_grad for p in stages[1].parameters())
    before = {k: v.clone() for k, v in detector.features.state_dict().items()}
    detector(torch.rand(2, 3, 64, 64)).logits.sum().backward()
    after = detector.features.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not any(norm.training for norm in detector.batch_norms())
    assert all(p.grad is None for p in stem.parameters())


def test_batch_norms_may_learn():
    network = Network(
        backbone="mobilenet_v2", freeze_batch_norm=False, levels=(8,), width=8, depth=0
    )
    detector = Detector(network, 2).train()
    assert all(norm.training for norm in detector.batch_norms())


def test_maps_in_place_of_images():
    detector = Detector(Network(backbone="small", levels=(8, 32 // 2), width=8, depth=1), 2).eval()
    pictures = torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        whole, parts = detector(pictures), detector(detector.maps(pictures))
    assert torch.equal(whole.logits, parts.logits)
    assert torch.equal(whole.regression, parts.regression)


def test_channels_are_what_the_maps_have():
    for features in (SmallFeatures(8), MobileFeatures(None, {})):
        with torch.no_grad():
            maps = features.eval()(torch.rand(1, 3, 64, 64))
        assert [one.shape[1] for one in maps] == list(features.channels)
        assert [one.shape[-1] for one in maps] == [16, 8, 4, 2]


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (Network(backbone="small", weights="x"), "the small backbone has none"),
        (Network(backbone="small", options={"depth": 3}), "is width, got depth"),
        (Network(backbone="small", options={"width": 9}), "multiple of 8"),
        (Network(backbone="small", frozen=9), "at most the 5 parts"),
        (
            Network(backbone="resnet", options={**TINY_RESNET, "out_features": ["stage4"]}),
            "maps of four stages",
        ),
    ],
)
def test_what_cannot_be_made(network, words):
    with pytest.raises(UsageError, match=words):
        make_features(network)
