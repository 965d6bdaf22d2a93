from __future__ import annotations

import sys

import pytest
import torch

from rankwise.errors import UsageError
from rankwise.vision.backbones import TransformersBackbone, make_backbone

TOKENS = dict(hidden_size=8, num_hidden_layers=4, num_attention_heads=2, image_size=32)
TINY = {
    # Blocks narrow to a quarter. With 4 that is one channel, whose backward pass in torch 2.13
    # writes beyond its memory on processors without AVX-512.
    "resnet": dict(embedding_size=4, hidden_sizes=[8, 8, 8, 12], depths=[1, 1, 1, 1]),
    "convnext": dict(hidden_sizes=[4, 8, 8, 12], depths=[1, 1, 1, 1]),
    "vit": dict(TOKENS, intermediate_size=8, patch_size=8),
    "dinov2": dict(TOKENS, mlp_ratio=1, patch_size=8),
}
PICTURES = torch.rand(3, 3, 32, 32, generator=torch.manual_seed(0))


@pytest.mark.parametrize("kind", TINY)
def test_features_and_stages(kind):
    network = make_backbone(kind, options=TINY[kind]).eval()
    found = network(PICTURES)
    assert found.shape == (3, network.channels)
    assert network.channels == (12 if kind in ("resnet", "convnext") else 8)
    assert found.isfinite().all()
    assert len({id(stage) for stage in network.stages}) == 4
    # Every stage is on the way: what it is given has the images in its first argument.
    seen = []
    for stage in network.stages:
        stage.register_forward_pre_hook(lambda _, given: seen.append(len(given[0])))
    network(PICTURES)
    assert seen == [3, 3, 3, 3]


@pytest.mark.parametrize("kind", TINY)
def test_weights_come_from_a_folder(kind, tmp_path):
    torch.manual_seed(1)
    first = TransformersBackbone(kind, options=TINY[kind]).eval()
    first.model.save_pretrained(tmp_path)
    torch.manual_seed(2)
    again = make_backbone(kind, str(tmp_path)).eval()
    assert torch.equal(again(PICTURES), first(PICTURES))


def test_the_default_is_resnet_50():
    with torch.device("meta"):
        network = TransformersBackbone("resnet")
    assert network.channels == 2048
    # He et al. 2016: 25.6 million parameters, of which the classifier has 2 048 × 1 000 + 1 000.
    assert sum(p.numel() for p in network.parameters()) == 25_557_032 - 2_049_000


def test_weights_that_are_not_there_or_another_kind(tmp_path):
    with pytest.raises(UsageError, match=r"network: resnet of weights .*nowhere cannot be made"):
        TransformersBackbone("resnet", str(tmp_path / "nowhere"))
    TransformersBackbone("convnext", options=TINY["convnext"]).model.save_pretrained(tmp_path)
    with pytest.raises(UsageError, match=r"holds a convnext, network.backbone is resnet"):
        TransformersBackbone("resnet", str(tmp_path))


def test_without_transformers_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=r'needs transformers: pip install "rankwise\[vision\]"'):
        TransformersBackbone("resnet")
