from __future__ import annotations

import torch

from rankwise.estimators.neural.network import Network


def test_a_score_per_row_of_numbers_and_categories() -> None:
    network = Network(3, [2, 100], (8, 4))
    scores = network(torch.randn(5, 3), torch.tensor([[0, 0], [1, 7], [2, 100], [1, 1], [2, 2]]))
    assert scores.shape == (5,)
    first, second = network.embeddings
    assert first.weight.shape == (3, 2)
    assert second.weight.shape == (101, 32)
    assert (first.weight[0] == 0).all()


def test_without_hidden_layers_it_is_linear() -> None:
    network, rows = Network(3, [], ()), torch.randn(4, 3)
    layer = network.layers[0]
    wanted = rows @ layer.weight[0] + layer.bias
    torch.testing.assert_close(network(rows, torch.zeros(4, 0, dtype=torch.long)), wanted)
