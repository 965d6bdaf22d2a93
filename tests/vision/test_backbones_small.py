from __future__ import annotations

import pytest
import torch

from rankwise.errors import UsageError
from rankwise.vision.backbones import SmallNet, make_backbone


def test_features_of_any_size_of_picture():
    network = SmallNet(width=2)
    assert network.channels == 16
    assert len(network.stages) == 4
    for size in (8, 28, 33):
        assert network(torch.rand(3, 3, size, size + 2)).shape == (3, 16)


def test_group_norm_looks_at_one_image_at_a_time():
    torch.manual_seed(0)
    pictures = torch.rand(4, 3, 16, 16)
    alone = SmallNet(width=8, norm="group").train()
    torch.testing.assert_close(alone(pictures)[:1], alone(pictures[:1]))
    together = SmallNet(width=8).train()
    assert not torch.allclose(together(pictures)[:1], together(pictures[:1]), atol=1e-3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(options={"width": 0}), "options.width must be a whole number >= 1, got 0"),
        (dict(options={"norm": "layer"}), "options.norm must be batch or group, got 'layer'"),
        (dict(options={"depth": 3}), "options of the small backbone are width and norm, got de"),
        (dict(weights="here"), "the small backbone has none"),
    ],
)
def test_what_it_is_not_made_of(given, message):
    with pytest.raises(UsageError, match=message):
        make_backbone("small", **given)
