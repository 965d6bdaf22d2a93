from __future__ import annotations

import pytest
import torch
from tests.vision.test_backbones_pretrained import TINY

from rankwise.errors import UsageError
from rankwise.tasks.retrieval.settings import Network
from rankwise.tasks.retrieval.task import EmbeddingNet, make_network
from rankwise.vision.augmentations import draw_mixing, mix_features

SMALL = Network(options={"width": 2}, dimension=5)
PICTURES = torch.rand(6, 3, 32, 32, generator=torch.manual_seed(0))


def test_embeddings_have_length_one():
    found = make_network(SMALL)(PICTURES)
    assert found.shape == (6, 5)
    torch.testing.assert_close(found.norm(dim=1), torch.ones(6))


def test_the_projection_is_of_the_features_of_standardized_images():
    network = make_network(SMALL).eval()
    mean = torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1)
    deviation = torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1)
    expected = network.projection(network.backbone((PICTURES - mean) / deviation))
    expected = expected / expected.square().sum(1, keepdim=True).sqrt()
    torch.testing.assert_close(network(PICTURES), expected)


def test_mean_and_deviation_are_those_of_the_pixels():
    pixels = torch.randint(0, 200, (7, 3, 8, 8), dtype=torch.uint8)
    network = make_network(SMALL)
    network.learn_statistics(pixels)
    channels = (pixels.double() / 255).transpose(0, 1).flatten(1)
    torch.testing.assert_close(network.mean.flatten().double(), channels.mean(1))
    expected = channels.std(1, correction=0)
    torch.testing.assert_close(network.deviation.flatten().double(), expected)
    assert {"mean", "deviation"} <= network.state_dict().keys()


@pytest.mark.parametrize("kind", ["small", "resnet"])
def test_frozen_batch_norm_neither_learns_nor_looks_at_the_batch(kind):
    options = {"width": 2} if kind == "small" else TINY[kind]
    network = make_network(Network(backbone=kind, options=options, freeze_batch_norm=True))
    assert not network.depends_on_batch
    network.eval().train()
    before = {name: value.clone() for name, value in network.backbone.named_buffers()}
    found = network(PICTURES)
    torch.testing.assert_close(found[:2], network(PICTURES[:2]), atol=1e-6, rtol=1e-5)
    found.sum().backward()
    for norm in network.batch_norms():
        assert not norm.training
        assert all(parameter.grad is None for parameter in norm.parameters())
    for name, value in network.backbone.named_buffers():
        assert torch.equal(value, before[name]), name
    thawed = make_network(Network(backbone=kind, options=options))
    assert thawed.depends_on_batch
    assert all(norm.training for norm in thawed.batch_norms())


def test_group_norm_looks_at_one_image():
    assert not make_network(Network(options={"width": 8, "norm": "group"})).depends_on_batch


@pytest.mark.parametrize("kind", ["small", *TINY])
def test_features_are_mixed_before_the_last_stages(kind):
    options = {"width": 2} if kind == "small" else TINY[kind]
    network = make_network(Network(backbone=kind, options=options, dimension=5)).eval()
    torch.manual_seed(0)
    mixing = draw_mixing(3, 2, 2, PICTURES)
    found = network(PICTURES, mixing)
    assert found.shape == (24, 5)
    by_class = found.reshape(3, 8, 5)
    # Images that were not mix_features come out as always; the others do not.
    torch.testing.assert_close(by_class[:, :2].reshape(6, 5), network(PICTURES))
    assert not torch.allclose(by_class[:, 2:4], by_class[:, :2], atol=1e-5)
    # One class by itself is mix_features as in the whole.
    alone = network(PICTURES[2:4], [v[1:2] for v in mixing])
    torch.testing.assert_close(alone, by_class[1], atol=1e-5, rtol=1e-4)
    assert not any(stage._forward_pre_hooks for stage in network.backbone.stages)


def test_mixing_is_where_it_says():
    network = make_network(SMALL).eval()
    torch.manual_seed(0)
    mixing = draw_mixing(3, 2, 2, PICTURES)
    x = (PICTURES - network.mean) / network.deviation
    first, second, third, fourth = network.backbone.stages
    x = third(mix_features(second(first(x)), mixing[0], 0.7))
    x = fourth(mix_features(x, mixing[1], 0.7)).mean((2, 3))
    expected = torch.nn.functional.normalize(network.projection(x))
    torch.testing.assert_close(network(PICTURES, mixing, 0.7), expected)


def test_more_mixing_than_stages():
    network = make_network(SMALL)
    with pytest.raises(UsageError, match=r"mixup\.stages must be at most the 4 of the backbone"):
        network(PICTURES, draw_mixing(3, 2, 5, PICTURES))
    assert isinstance(network, EmbeddingNet)
