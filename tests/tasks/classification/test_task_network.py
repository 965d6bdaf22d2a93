from __future__ import annotations

import pytest
import torch
from tests.tasks.classification.cases import settings

from rankwise.tasks.classification.task import Classifier


def test_cosines_do_not_depend_on_the_size_of_the_vectors():
    pictures = torch.rand(4, 3, 8, 8)
    network = Classifier(settings("network.head=cosine"), 3).eval()
    found = network(pictures)
    assert found.abs().max() <= 1 + 1e-6
    with torch.no_grad():
        network.projection.weight.mul_(7)
    torch.testing.assert_close(network(pictures), found)


def test_a_linear_head_is_features_times_weights():
    network = Classifier(settings(), 3).eval()
    pictures = torch.rand(4, 3, 8, 8)
    features = network.backbone((pictures - network.mean) / network.deviation)
    wanted = features @ network.projection.weight.T + network.projection.bias
    torch.testing.assert_close(network(pictures), wanted)


@pytest.mark.parametrize("depths", [[1, 1], [1, 1, 1]])
def test_a_resnet_of_transformers(depths):
    sizes = [8] * len(depths)
    options = {
        "depths": depths,
        "hidden_sizes": sizes,
        "embedding_size": 4,
        "layer_type": "basic",
    }
    import json

    chosen = settings("network.backbone=resnet", f"network.options={json.dumps(options)}")
    assert Classifier(chosen, 5).eval()(torch.rand(2, 3, 16, 16)).shape == (2, 5)
