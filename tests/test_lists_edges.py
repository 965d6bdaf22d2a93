"""Lists whose shape, dtype or classes take a way of their own."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch

from rankwise import no_checks
from rankwise.lists import split_lists

SCORES = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
TARGET = torch.tensor([[0, 1, 0, 1], [0, 0, 1, 0]])


def test_lists_of_several_dimensions_are_rows():
    mask = torch.tensor([[True, True, True, False], [True, True, True, True]])
    rows = split_lists(SCORES, TARGET, mask, SCORES)
    found = split_lists(SCORES[None], TARGET[None], mask[None], SCORES[None])
    assert torch.equal(found.positives, rows.positives)
    assert torch.equal(found.positive_weight, rows.positive_weight)
    assert torch.equal(found.negative_weight, rows.negative_weight)


def test_lists_of_one_item():
    lists = split_lists(torch.tensor([[3.0], [4.0]]), torch.tensor([[1], [0]]))
    assert lists.positives.tolist() == [[3], [4]]
    assert lists.positive_weight.tolist() == [[1], [0]]


@pytest.mark.parametrize("checks", [nullcontext, no_checks])
def test_masked_items_hold_a_number_where_all_items_are_kept(checks):
    scores, mask = torch.tensor([1.0, torch.nan, 3.0]), torch.tensor([True, False, True])
    with checks():
        lists = split_lists(scores, torch.tensor([0, -100, 1]), mask, whole_negatives=True)
    assert lists.negatives.tolist() == [[1, 0, 3]]
    assert lists.negative_weight.tolist() == [[1, 0, 0]]


def test_chosen_lists_keep_the_places_of_their_positives():
    lists = split_lists(SCORES, TARGET, whole_negatives=True)
    assert lists.places is not None
    assert lists.places.tolist() == [[1, 3], [2, 2]]
    chosen = lists.select(torch.tensor([False, True]))
    assert chosen.places is not None
    assert chosen.places.tolist() == [[2, 2]]
    assert split_lists(SCORES, TARGET).places is None


def test_other_ids_replace_those_that_were_read():
    lists = split_lists(SCORES, torch.eye(4)[:2])
    assert lists.ids.tolist() == [0, 0]
    assert lists.replace(list_ids=torch.tensor([3, 4])).ids.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("target", "complete"),
    [
        ([[1, 0], [0, 1]], True),
        ([[1, 1], [1, 1]], False),
        ([[0, 0], [1, 0]], False),
        ([[2, 1], [1, 2]], True),
        ([[2, 2], [1, 2]], False),
    ],
)
def test_whether_every_list_has_something_to_rank(target, complete):
    target = torch.tensor(target)
    lists = split_lists(SCORES[:, :2], target, graded=bool((target > 1).any()))
    assert lists.all_complete is complete


def test_only_lists_of_equal_sizes_and_weights_are_even():
    assert split_lists(SCORES[:1], TARGET[:1]).even
    assert split_lists(torch.zeros(0, 4), torch.zeros(0, 4)).even
    assert not split_lists(SCORES[:1], TARGET[:1], weight=SCORES[:1]).even
    mask = torch.tensor([[True, True, True, False], [True, True, True, True]])
    assert not split_lists(SCORES, torch.eye(4)[:2], mask).even  # the negatives are padded


def test_means_and_weights_of_both_kinds_of_lists():
    even, padded = split_lists(SCORES, torch.eye(4)[:2]), split_lists(SCORES, TARGET)
    assert even.positive_weight.dtype == SCORES.dtype
    assert even.mean_over_positives(even.positives).tolist() == [1, 6]
    assert padded.mean_over_positives(padded.positives).tolist() == [3, 7]


def test_a_score_of_0_has_a_relevance():
    assert split_lists(torch.tensor([0.0, 1.0]), torch.tensor([0, 1])).relevances.tolist() == [
        [1, 0]
    ]


def test_the_weights_of_one_list_take_part_in_a_gradient():
    scores = SCORES[0].clone().requires_grad_()
    lists = split_lists(scores, TARGET[0])
    (lists.positives * lists.positive_weight).sum().backward()
    assert scores.grad is not None
    assert torch.equal(scores.grad, TARGET[0].float())


def test_all_arguments_are_on_one_device():
    with pytest.raises(ValueError, match="target"):
        split_lists(SCORES, TARGET.to("meta"))
