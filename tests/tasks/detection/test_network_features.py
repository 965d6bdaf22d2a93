"""Backbones as maps: of any size, of a picture by itself, the published ones' own, frozen."""

from __future__ import annotations

import pytest
import torch
from tests.vision.test_backbones_mobilenet import random_state
from tests.vision.test_backbones_pretrained import TINY

from rankwise.errors import UsageError
from rankwise.tasks.detection.network import (
    MobileFeatures,
    SmallFeatures,
    TransformersFeatures,
    make_features,
)
from rankwise.tasks.detection.settings import Network
from rankwise.vision.backbones import MobileNetV2, TransformersBackbone

NETWORKS = {
    "small": Network(backbone="small", options={"width": 8}),
    "mobilenet_v2": Network(backbone="mobilenet_v2"),
    "resnet": Network(backbone="resnet", options=TINY["resnet"]),
    "convnext": Network(backbone="convnext", options=TINY["convnext"]),
}
PICTURES = torch.rand(2, 3, 64, 96, generator=torch.manual_seed(0))


@pytest.fixture(autouse=True)
def own_random_numbers():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_map_for_each_stride(kind):
    features = make_features(NETWORKS[kind]).eval()
    with torch.no_grad():
        maps = features(PICTURES)
    places = [(64 // stride, 96 // stride) for stride in (4, 8, 16, 32)]
    assert [tuple(one.shape[-2:]) for one in maps] == places
    assert [one.shape[1] for one in maps] == list(features.channels)
    assert all(one.std() > 0 for one in maps)


@pytest.mark.parametrize("kind", ["small", "mobilenet_v2", "resnet"])
def test_sizes_that_do_not_divide_are_rounded_up(kind):
    features = make_features(NETWORKS[kind]).eval()
    with torch.no_grad():
        maps = features(torch.rand(1, 3, 65, 33))
    assert [tuple(one.shape[-2:]) for one in maps] == [(17, 9), (9, 5), (5, 3), (3, 2)]


def test_the_small_one_looks_at_a_image_by_itself():
    features = SmallFeatures(8).train()
    with torch.no_grad():
        for both, alone in zip(features(PICTURES), features(PICTURES[:1]), strict=True):
            torch.testing.assert_close(both[:1], alone)


def test_the_maps_of_mobilenet_are_those_of_its_blocks(tmp_path):
    torch.save(random_state(), tmp_path / "weights.pth")
    features = MobileFeatures(str(tmp_path / "weights.pth"), {}).eval()
    whole = MobileNetV2(str(tmp_path / "weights.pth")).eval().model
    with torch.no_grad():
        maps = features(PICTURES)
        states = whole(PICTURES, output_hidden_states=True).hidden_states
    # Sandler et al. 2018, Table 2: blocks 2 and 3 are at stride 4, up to the 6th at 8, up to the
    # 13th at 16, up to the 17th at 32; the first of all is in the stem.
    for one, state in zip(maps, (states[1], states[4], states[11], states[15]), strict=True):
        torch.testing.assert_close(one, state)
    assert features.channels == (24, 32, 96, 320)


@pytest.mark.parametrize("kind", ["resnet", "convnext"])
def test_weights_come_from_a_folder(kind, tmp_path):
    first = TransformersBackbone(kind, options=TINY[kind]).eval()
    first.model.save_pretrained(tmp_path)
    features = make_features(Network(backbone=kind, weights=str(tmp_path))).eval()
    with torch.no_grad():
        last = first.model(PICTURES).feature_maps[-1]
        torch.testing.assert_close(features(PICTURES)[-1], last)


@pytest.mark.parametrize("frozen", [0, 1, 3, 5])
@pytest.mark.parametrize("kind", NETWORKS)
def test_the_first_parts_are_frozen_and_only_those(kind, frozen):
    chosen = NETWORKS[kind]
    features = make_features(
        Network(backbone=chosen.backbone, options=chosen.options, frozen=frozen)
    )
    parts = list(features.parts())
    assert len(parts) == 5
    learning = [any(p.requires_grad for p in part.parameters()) for part in parts]
    assert learning == [False] * frozen + [True] * (5 - frozen)
    inside = {id(p) for part in parts for p in part.parameters()}
    assert inside == {id(p) for p in features.parameters()}  # nothing is beside the parts


@pytest.mark.parametrize("kind", NETWORKS)
def test_parts_are_in_the_order_of_the_image(kind):
    features, seen = make_features(NETWORKS[kind]).eval(), []
    for number, whole in enumerate(features.parts()):
        part = whole[0] if isinstance(whole, torch.nn.ModuleList) else whole  # and its norm
        part.register_forward_hook(lambda _, __, ___, number=number: seen.append(number))
    with torch.no_grad():
        features(PICTURES)
    assert seen == [0, 1, 2, 3, 4]


def test_the_same_seed_gives_the_same_backbone():
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(next(make_features(NETWORKS["small"]).parameters()).clone())
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


@pytest.mark.parametrize("width", [0, 4, 12, 8.0, True, "8"])
def test_a_width_of_groups_of_eight(width):
    with pytest.raises(UsageError, match=r"network\.options\.width must be a multiple of 8, got "):
        SmallFeatures(width)


def test_more_than_there_is_cannot_be_frozen():
    features = SmallFeatures(8)
    with pytest.raises(
        UsageError, match=r"network\.frozen must be at most the 5 parts of this backbone, got 6"
    ):
        features.freeze(6)
    assert all(p.requires_grad for p in features.parameters())


def test_a_backbone_without_four_stages_is_refused():
    three = dict(embedding_size=4, hidden_sizes=[4, 8, 8], depths=[1, 1, 1])
    with pytest.raises(UsageError, match="resnet"):
        TransformersFeatures("resnet", None, three)
