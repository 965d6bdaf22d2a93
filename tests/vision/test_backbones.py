"""What the rest of a network asks of a backbone, with one that was written for it here."""

from __future__ import annotations

import json

import pytest
import torch
from tests.tasks.retrieval.cases import images, settings
from tests.vision.test_backbones_pretrained import TINY
from torch import nn

from rankwise.errors import UsageError
from rankwise.tasks.retrieval.task import EmbeddingNet, new_network
from rankwise.vision.augmentations import draw_mixing, mix_features
from rankwise.vision.backbones import Backbone
from rankwise.vision.image_dataset import ImageDataset

PICTURES = torch.rand(6, 3, 5, 5, generator=torch.manual_seed(0))


class Own(Backbone):
    """Two convolutions of single pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.channels = 4
        self.first, self.second = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1)

    @property
    def stages(self):
        return [self.first, self.second]

    def forward(self, pictures):
        return self.second(self.first(pictures).relu()).mean((2, 3))


class WithoutStages(Backbone):
    def forward(self, pictures):
        return pictures


class WithoutForward(Backbone):
    @property
    def stages(self):
        return []


@pytest.mark.parametrize(
    ("kind", "missing"), [(WithoutStages, "stages"), (WithoutForward, "forward")]
)
def test_one_without_stages_or_features_is_none(kind, missing):
    with pytest.raises(TypeError, match=f"abstract.*'?{missing}"):
        kind()


def test_one_of_ones_own_is_embedded_and_mixed_before_its_last_stage():
    torch.manual_seed(0)
    network = EmbeddingNet(Own(), 5).eval()
    assert network.projection.in_features == 4
    mixing = draw_mixing(3, 2, 1, PICTURES)
    first, second = network.backbone.stages
    x = first((PICTURES - network.mean) / network.deviation).relu()
    x = second(mix_features(x, mixing[0], 0.8)).mean((2, 3))
    expected = nn.functional.normalize(network.projection(x))
    found = network(PICTURES, mixing, 0.8)
    assert found.shape == (12, 5)
    torch.testing.assert_close(found, expected)
    with pytest.raises(UsageError, match=r"mixup\.stages must be at most the 2 of the backbone"):
        network(PICTURES, draw_mixing(3, 2, 3, PICTURES))


def test_its_images_are_standardized_by_imagenet():
    seen = []
    network = EmbeddingNet(Own(), 5)
    assert not network.backbone.uses_data_statistics
    network.backbone.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    network(torch.full((2, 3, 4, 4), 0.5))
    # (.5 − .485)/.229, (.5 − .456)/.224, (.5 − .406)/.225
    wanted = torch.tensor([0.0655022, 0.1964286, 0.4177778]).reshape(1, 3, 1, 1)
    torch.testing.assert_close(seen[0], wanted.expand(2, 3, 4, 4), rtol=0, atol=1e-6)


def test_only_one_with_its_uses_data_statistics_looks_at_the_training_pixels():
    options = json.dumps(TINY["resnet"])
    for kind, own in (
        ((), True),
        (("network.backbone=resnet", f"network.options={options}"), False),
    ):
        chosen = settings("augmentations.resize=9", "augmentations.crop=9", *kind)
        pictures = ImageDataset(images("train", 6, seed=1), chosen.augmentations)
        with torch.random.fork_rng(devices=[]):
            network = new_network(pictures, chosen)
        assert network.backbone.uses_data_statistics == own
        pixels = pictures.images.pixels.double() / 255
        error = (network.mean.flatten() - pixels.mean((0, 2, 3))).abs().max()
        assert (error < 1e-6) == own
