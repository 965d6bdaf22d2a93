from __future__ import annotations

import torch

from rankwise.tasks.contrast.network import ContrastNet


def test_shapes_of_features_and_embedding():
    network = ContrastNet(width=2, dimension=5)
    images = torch.rand(4, 3, 9, 12)
    assert network.features(images).shape == (4, 16)
    assert network(images).shape == (4, 5)


def test_mean_and_deviation_are_those_of_the_pixels():
    torch.manual_seed(0)
    pixels = torch.randint(0, 200, (7, 3, 8, 8), dtype=torch.uint8)
    network = ContrastNet(width=2)
    network.learn_statistics(pixels)
    channels = (pixels.double() / 255).transpose(0, 1).flatten(1)
    torch.testing.assert_close(network.mean.flatten().double(), channels.mean(1))
    expected = channels.std(1, correction=0)
    torch.testing.assert_close(network.deviation.flatten().double(), expected)
    assert {"mean", "deviation"} <= network.state_dict().keys()
