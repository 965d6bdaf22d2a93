from __future__ import annotations

import pytest
import torch

from rankwise.objectives import PairwiseAUC
from rankwise.objectives._batch import (
    Batch,
    CallArguments,
    Risks,
    lists_of_rows,
    read_batch,
    risks_with_gradient_in_forward,
)


def test_leading_dimensions_become_rows():
    scores = torch.arange(24.0).reshape(2, 3, 4)
    arguments = CallArguments(
        mask=scores > 3, weight=scores + 1, list_ids=torch.arange(6).reshape(2, 3)
    )
    (batch,) = read_batch(scores, scores > 5, arguments, "list")
    assert batch.scores.shape == batch.target.shape == (6, 4)
    assert batch.list_ids.tolist() == list(range(6))
    assert torch.equal(batch.weight, batch.scores + 1)
    assert batch.rows(slice(1, 3)).list_ids.tolist() == [1, 2]


def test_ragged_lists_become_rectangles_with_their_ids():
    groups = torch.tensor([9, 4, 9, 9, 4, 7])
    scores = torch.arange(6.0)
    arguments = CallArguments(groups=groups, list_ids=torch.tensor([40, 70, 90]))  # of 4, 7, 9
    found = {}
    for batch in read_batch(scores, scores > 2, arguments, "list"):
        for row, key in enumerate(batch.list_ids.tolist()):
            present = slice(None) if batch.mask is None else batch.mask[row]
            found[key] = batch.scores[row][present].tolist()
    assert found == {40: [1, 4], 70: [5], 90: [0, 2, 3]}


def test_split_drops_lists_of_one_class_and_keeps_the_ids_of_the_others():
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    arguments = CallArguments(list_ids=torch.tensor([5, 6]))
    (batch,) = read_batch(scores, torch.tensor([[1, 1], [0, 1]]), arguments, "list")
    lists, ranked = PairwiseAUC().split(batch, 2.0)
    assert ranked.tolist() == [False, True]
    assert lists.list_ids.tolist() == [6]
    assert lists.positives[lists.positive_weight > 0].tolist() == [2]
    assert lists.negatives[lists.negative_weight > 0].tolist() == [1.5]


def test_the_gradient_made_in_the_forward_pass_is_the_gradient():
    torch.manual_seed(0)
    scores = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    batch = Batch(scores, torch.zeros(5, 3))
    blocks = list(batch.blocks(6))
    assert [len(range(5)[b]) for b in blocks] == [2, 2, 1]
    risks = risks_with_gradient_in_forward(
        batch,
        blocks,
        lambda part: Risks((part.scores**2).sum(-1)[:1], torch.arange(len(part.scores)) < 1),
    )
    assert risks.ranked.tolist() == [True, False, True, False, True]
    (gradient,) = torch.autograd.grad(3 * risks.values.sum(), scores)
    torch.testing.assert_close(gradient, 6 * scores * risks.ranked.unsqueeze(1))
    torch.testing.assert_close(risks.values, (scores[::2] ** 2).sum(-1))


def test_list_ids_that_are_not_by_group_are_named():
    scores, target = torch.zeros(2, 3), torch.zeros(2, 3)
    arguments = CallArguments(groups=torch.tensor([1, 1, 2]), list_ids=torch.arange(3))
    with pytest.raises(ValueError, match="ascending order of the 2 groups"):
        read_batch(scores[0], target[0], arguments, "list")


def test_the_rows_of_lists_that_can_be_ranked_stand_in_for_their_scores():
    groups = torch.tensor([3, 1, 3, 2, 1])
    target = torch.tensor([1, 0, 0, 1, 1])  # the list 2 has one class
    (lists,) = lists_of_rows(target, CallArguments(groups=groups))
    assert lists.positives.tolist() == [[4.0], [0.0]]
    assert lists.negatives.tolist() == [[1.0], [2.0]]
