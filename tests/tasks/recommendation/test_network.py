from __future__ import annotations

import pytest
import torch
from tests.tasks.recommendation.cases import settings

from rankwise.tasks.recommendation.network import Recommender


def test_matrix_factorization_is_a_product_and_an_offset():
    torch.manual_seed(0)
    network = Recommender(3, 4, settings(dimension=2))
    network.offsets.weight.data.copy_(torch.arange(4.0).unsqueeze(1))
    users, items = network.users.ids.weight, network.items.ids.weight
    scores = network.scores()
    found = scores.users(torch.arange(3)) @ scores.items.T
    torch.testing.assert_close(found, users @ items.T + torch.arange(4.0))
    assert sum(p.numel() for p in network.parameters()) == 3 * 2 + 4 * 2 + 4


def test_towers_look_at_features():
    torch.manual_seed(0)
    known = torch.tensor([[0.0], [0.0], [5.0]])
    chosen = settings(model="two_tower", dimension=2, hidden=(3,))
    network = Recommender(3, 4, chosen, known, None)
    network.users.ids.weight.data.fill_(0.1)
    first, second, third = network.vectors()[0](torch.arange(3))
    torch.testing.assert_close(first, second)
    assert (first - third).abs().max() > 1e-3
    assert "users.known" in network.state_dict()
    assert network.items.layers is not None


def test_cosines_over_the_temperature():
    torch.manual_seed(0)
    chosen = settings(dimension=2, scores="cosine", temperature=0.2, offsets=False)
    network = Recommender(3, 4, chosen)
    users, items = network.users.ids.weight, network.items.ids.weight
    scores = network.scores()
    found = scores.users(torch.arange(3)) @ scores.items.T
    expected = torch.nn.functional.cosine_similarity(users[:, None], items, dim=-1) / 0.2
    torch.testing.assert_close(found, expected)
    assert "offsets.weight" not in network.state_dict()


def test_cosines_with_offsets():
    torch.manual_seed(0)
    network = Recommender(3, 4, settings(dimension=2, scores="cosine", temperature=0.2))
    network.offsets.weight.data.copy_(torch.arange(4.0).unsqueeze(1))
    users, items = network.users.ids.weight, network.items.ids.weight
    scores = network.scores()
    found = scores.users(torch.arange(3)) @ scores.items.T
    cosines = torch.nn.functional.cosine_similarity(users[:, None], items, dim=-1)
    torch.testing.assert_close(found, cosines / 0.2 + torch.arange(4.0))


@pytest.mark.parametrize(
    ("options", "offsets"),
    [
        ({"scores": "dot", "objective": "ap"}, True),
        ({"scores": "cosine", "objective": "softmax"}, True),
        ({"scores": "cosine", "objective": "bpr"}, True),
        ({"scores": "cosine", "objective": "ndcg"}, False),
        ({"scores": "cosine", "objective": "ndcg", "offsets": True}, True),
        ({"scores": "dot", "offsets": False}, False),
    ],
)
def test_which_scores_have_offsets(options, offsets):
    assert (Recommender(3, 4, settings(**options)).offsets is not None) is offsets
