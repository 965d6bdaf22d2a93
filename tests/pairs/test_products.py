from __future__ import annotations

import pytest
import torch

from rankwise.pairs.products import ProductSums


@pytest.mark.parametrize("size", [1.0, 30.0])  # scores up to several thousand
def test_scores_sums_and_gradient_are_those_of_the_whole_matrix(size):
    torch.manual_seed(0)
    left = (size * torch.randn(5, 3, dtype=torch.float64)).requires_grad_()
    right = (size * torch.randn(7, 3, dtype=torch.float64)).requires_grad_()
    rows, columns = torch.tensor([0, 0, 1, 3, 4]), torch.tensor([6, 2, 0, 3, 3])
    of_scores, of_rest = torch.randn(5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)

    matrix = left @ right.T
    own = torch.zeros(5, 7, dtype=torch.bool)
    own[rows, columns] = True
    rest = matrix.masked_fill(own, -torch.inf).logsumexp(1)
    scores = matrix[rows, columns]
    expected = torch.autograd.grad(
        (scores * of_scores).sum() + (rest * of_rest).sum(), (left, right)
    )

    sums = ProductSums(left.detach(), right.detach(), rows, columns)
    torch.testing.assert_close(sums.scores, scores.detach())
    torch.testing.assert_close(sums.rest, rest.detach())
    of_right = torch.ones_like(right)
    of_left = sums.gradient(of_scores, of_rest, of_right)
    torch.testing.assert_close(of_left, expected[0])
    torch.testing.assert_close(of_right, 1 + expected[1])


def test_a_row_of_cells_only_has_no_rest():
    left, right = torch.ones(2, 1), torch.tensor([[1.0], [2.0]])
    sums = ProductSums(left, right, torch.tensor([0, 0]), torch.tensor([0, 1]))
    assert sums.rest[0] == -torch.inf
    of_right = torch.zeros(2, 1)
    of_left = sums.gradient(torch.tensor([1.0, 1.0]), torch.tensor([1.0, 0.0]), of_right)
    torch.testing.assert_close(of_left, torch.tensor([[3.0], [0.0]]))
