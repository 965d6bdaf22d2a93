from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array

from rankwise.estimators.neural._training import Encoding, Network


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


NAN = np.nan
ROWS = np.array([[1.0, 0, 5], [3, NAN, 5], [NAN, 1, 5], [5, 0, 5]])
CATEGORIES = {1: np.array(["blue", "red"])}


def test_by_hand() -> None:
    encoding = Encoding.learn(ROWS, None, CATEGORIES)
    spread = np.sqrt(8 / 3)  # of 1, 3, 5
    numbers, codes = encoding(ROWS, torch.float64)
    wanted = [[-2 / spread, 0, 0], [0, 0, 0], [0, 0, 1], [2 / spread, 0, 0]]
    np.testing.assert_allclose(numbers.numpy(), wanted)
    assert codes.tolist() == [[1], [0], [2], [1]]
    assert encoding.inputs == 3  # two columns of numbers and the mark of the first


def test_a_gap_in_a_column_that_had_none_is_its_mean() -> None:
    numbers, codes = Encoding.learn(ROWS, None, CATEGORIES)(
        np.array([[3.0, NAN, NAN]]), torch.float32
    )
    assert numbers.tolist() == [[0, 0, 0]]
    assert codes.tolist() == [[0]]


def test_a_weight_is_that_many_rows() -> None:
    weight = np.array([1, 2, 3, 4])
    once = Encoding.learn(ROWS, weight.astype(float), CATEGORIES)
    many = Encoding.learn(np.repeat(ROWS, weight, 0), None, CATEGORIES)
    np.testing.assert_allclose(once.mean, many.mean)
    np.testing.assert_allclose(once.spread, many.spread)


def test_sparse_rows_and_columns_of_gaps() -> None:
    dense = np.array([[0.0, 1], [2, 0], [0, 0]])
    one, other = Encoding.learn(dense, None, {}), Encoding.learn(csr_array(dense), None, {})
    assert one(dense, torch.float32)[0].equal(other(csr_array(dense), torch.float32)[0])
    gaps = Encoding.learn(np.full((3, 1), NAN), None, {})
    assert gaps(np.full((1, 1), NAN), torch.float32)[0].tolist() == [[0, 1]]


def test_made_of_its_state_again() -> None:
    encoding = Encoding.learn(ROWS, None, CATEGORIES)
    again = Encoding(**vars(encoding))
    for one, other in zip(encoding(ROWS, torch.float32), again(ROWS, torch.float32), strict=True):
        assert one.equal(other)
