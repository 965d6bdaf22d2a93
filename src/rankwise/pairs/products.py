"""Sums of exponentials over the rows of a product of two matrices, and their gradient in place."""

from __future__ import annotations

import torch
from torch import Tensor


class ProductSums:
    """Scores of some cells of left @ right.T, and log Σ e^score of the other cells of each row.

    A softmax loss of users against a whole catalog needs no more of the scores than these. The
    matrix is made once, overwritten by its exponentials and then by the gradient, so that a block
    that fits into the cache is never copied.

    Args:
        left: Vectors of the rows, (n, d), without a gradient.
        right: Vectors of the columns, (m, d).
        rows: Row of each cell, (cells,).
        columns: Column of each cell, (cells,). No cell stands twice.

    Example:
        >>> import torch
        >>> from rankwise.pairs.products import ProductSums
        >>> users, items = torch.tensor([[1.0]]), torch.tensor([[0.0], [1.0], [2.0]])
        >>> sums = ProductSums(users, items, torch.tensor([0]), torch.tensor([2]))
        >>> sums.scores, sums.rest  # item 2, and log(1 + e)
        (tensor([2.]), tensor([1.3133]))
    """

    def __init__(self, left: Tensor, right: Tensor, rows: Tensor, columns: Tensor) -> None:
        self.left, self.right = left, right
        self._matrix = left @ right.T
        self._cells = rows * len(right) + columns
        flat = self._matrix.view(-1)
        self.scores = flat[self._cells]
        # The largest score of a row bounds its exponentials; the cells do not count in their sum.
        largest = self._matrix.amax(1, keepdim=True)
        self._matrix.sub_(largest).exp_()
        flat[self._cells] = 0
        self._total = self._matrix.sum(1)
        self.rest = self._total.log() + largest.squeeze(1)

    def gradient(self, of_scores: Tensor, of_rest: Tensor, of_right: Tensor) -> Tensor:
        """Return the gradient of ``left`` and add that of ``right`` to ``of_right``.

        Overwrites the matrix: it can be called once.

        Args:
            of_scores: Gradient of ``scores``.
            of_rest: Gradient of ``rest``; of a row without other cells it has no effect.
            of_right: Tensor of the shape of ``right``, which is changed.
        """
        share = torch.where(self._total > 0, of_rest / self._total, 0)
        self._matrix.mul_(share.unsqueeze(1))
        self._matrix.view(-1)[self._cells] = of_scores
        of_right.addmm_(self._matrix.T, self.left)
        return self._matrix @ self.right
