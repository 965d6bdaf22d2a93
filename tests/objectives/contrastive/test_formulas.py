from __future__ import annotations

import math

import torch

from rankwise.lists import split_lists
from rankwise.objectives.contrastive._formulas import (
    log_mean_exp,
    log_mean_exp_above,
    log_sum_exp,
    mean_under_softmax,
    negatives_above,
)

X = torch.tensor([[0.0, math.log(3.0), 1e4]], dtype=torch.float64)
W = torch.tensor([[2.0, 1.0, 0.0]], dtype=torch.float64)  # 2·1 + 1·3, the huge one is not there


def test_weighted_sums_and_means_of_exponentials():
    assert math.isclose(log_sum_exp(X, W).item(), math.log(5))
    for temperature in (0.5, 2.0):
        expected = math.log(2 + 3 ** (1 / temperature))
        assert math.isclose(log_sum_exp(X, W, temperature).item(), expected)
    assert math.isclose(log_mean_exp(X, W).item(), math.log(5 / 3))
    assert math.isclose(mean_under_softmax(X, W).item(), 3 / 5 * math.log(3))


def test_an_absent_item_has_no_gradient():
    x = X.clone().requires_grad_()
    log_mean_exp(x, W).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([[2 / 5, 3 / 5, 0.0]], dtype=torch.float64))


def test_negatives_stand_against_the_mean_positive():
    scores = torch.tensor([[0.5, 0.1, 0.9, -0.3]], dtype=torch.float16)
    lists = split_lists(scores, torch.tensor([[1, 1, 0, 0]]))
    above = negatives_above(lists, 0.1)
    assert above.dtype == torch.float32
    torch.testing.assert_close(above, torch.tensor([[6.0, -6.0]]), rtol=2e-3, atol=0)


def test_lists_without_ids_are_the_only_one():
    lists = split_lists(torch.rand(3, 4), torch.tensor([[1, 0, 0, 0]] * 3))
    assert lists.ids.tolist() == [0, 0, 0]


def test_the_mean_positive_is_subtracted_before_the_logarithm_is_added():
    # In float32 log(2/3) is nothing next to 1e9/0.1.
    scores, target = torch.tensor([[1e9, 1e9, 1e9, -1e9]]), torch.tensor([[1, 0, 0, 0]])
    for whole in (False, True):  # the two ways in which positives are kept
        lists = split_lists(scores, target, whole_negatives=whole)
        value = log_mean_exp_above(lists, 0.1)
        torch.testing.assert_close(value, torch.tensor([math.log(2 / 3)]))
