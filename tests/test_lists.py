from __future__ import annotations

import pytest
import torch

from rankwise.lists import split_lists

SCORES = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
TARGET = torch.tensor([[0, 1, 0, 1], [0, 0, 1, 0]])


def test_rows_are_taken_apart_and_padded_with_their_own_scores():
    lists = split_lists(SCORES, TARGET)
    assert lists.positives.tolist() == [[2, 4], [7, 7]]
    assert lists.positive_weight.tolist() == [[1, 1], [1, 0]]
    assert lists.negatives.tolist() == [[1, 3, 1], [5, 6, 8]]
    assert lists.negative_weight.tolist() == [[1, 1, 0], [1, 1, 1]]
    assert lists.n_positives.tolist() == [[2], [1]]
    assert lists.rate.tolist() == [[0.5], [0.25]]
    assert lists.complete.tolist() == [True, True]


def test_mask_and_weight():
    mask = torch.tensor([[True, True, True, False], [True, True, False, True]])
    weight = torch.tensor([[1.0, 2.0, 0.0, 9.0], [1.0, 1.0, 1.0, 3.0]])
    scores = SCORES.masked_fill(~mask, torch.nan)
    lists = split_lists(scores, TARGET.masked_fill(~mask, -1), mask, weight)
    assert lists.n_positives.tolist() == [[2], [0]]
    assert lists.n_negatives.tolist() == [[1], [5]]
    assert lists.complete.tolist() == [True, False]
    assert lists.mean_over_negatives(lists.negatives).tolist() == [1, (5 + 6 + 3 * 8) / 5]
    assert lists.select(lists.complete).mean_over_positives(lists.positives[:1]).tolist() == [2]


def test_detached_lists_have_the_same_scores_without_a_graph():
    lists = split_lists(SCORES.clone().requires_grad_(), TARGET)
    detached = lists.detached()
    assert lists.positives.requires_grad
    assert not detached.positives.requires_grad
    assert not detached.negatives.requires_grad
    assert detached.positives.tolist() == lists.positives.tolist()
    assert detached.negatives.tolist() == lists.negatives.tolist()
    half = lists.replace(negatives=detached.negatives).detached()
    assert not half.positives.requires_grad


def test_one_list_of_plain_labels_has_weights_of_1():
    lists = split_lists(SCORES[:1], TARGET[:1])
    assert lists.positive_weight.tolist() == lists.negative_weight.tolist() == [[1, 1]]


def test_ids_of_items_are_those_of_the_positives():
    ids = torch.tensor([[10, 11, 12, 13], [20, 21, 22, 23]])
    lists = split_lists(SCORES, TARGET, item_ids=ids)
    assert lists.item_ids is not None
    assert lists.item_ids.tolist() == [[11, 13], [22, 22]]


def test_gradients_reach_the_scores_of_real_items_only():
    scores = SCORES.clone().requires_grad_()
    lists = split_lists(scores, TARGET)
    (lists.positives * lists.positive_weight).sum().backward()
    assert scores.grad is not None
    assert torch.equal(scores.grad, TARGET.float())


def test_whole_sides_keep_every_item_where_it_is():
    weight = torch.tensor([[1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 0.5]])
    apart = split_lists(SCORES, TARGET, weight=weight)
    whole = split_lists(SCORES, TARGET, weight=weight, whole_positives=True, whole_negatives=True)
    assert whole.positives is whole.negatives
    assert whole.positive_weight.tolist() == [[0, 2, 0, 4], [0, 0, 1, 0]]
    assert torch.equal(whole.positive_weight + whole.negative_weight, weight)
    assert torch.equal(whole.n_positives, apart.n_positives)
    assert torch.equal(whole.n_negatives, apart.n_negatives)
    for ours, known in zip(
        (whole.mean_over_positives(SCORES), whole.mean_over_negatives(SCORES)),
        (
            apart.mean_over_positives(apart.positives),
            apart.mean_over_negatives(apart.negatives),
        ),
        strict=True,
    ):
        torch.testing.assert_close(ours, known)


def test_a_value_that_is_not_masked_is_still_checked():
    mask = torch.tensor([True, True, False])
    scores, target = torch.tensor([1.0, torch.nan, torch.nan]), torch.tensor([0, 1, 0])
    with pytest.raises(ValueError, match="scores contains NaN"):
        split_lists(scores, target, mask)


def test_padding_is_not_present():
    assert split_lists(SCORES, TARGET).present.tolist() == [[True, True], [True, False]]
    assert split_lists(SCORES, torch.eye(4)[:2]).present is None


def test_ids_of_lists_are_those_given_or_0():
    assert split_lists(SCORES, TARGET).ids.tolist() == [0, 0]
    assert split_lists(SCORES, TARGET, list_ids=torch.tensor([7, 5])).ids.tolist() == [7, 5]


def test_mass_of_even_lists_is_a_number():
    lists = split_lists(SCORES[:, :3], torch.tensor([[1, 0, 0], [0, 0, 1]]))
    assert (lists.positive_mass, lists.negative_mass) == (1, 2)


def test_mean_of_half_values_is_computed_in_the_dtype_of_the_weights():
    scores = torch.tensor([2048.0, 1.0, 3.0], dtype=torch.float16)
    lists = split_lists(scores, torch.tensor([0, 0, 1]))
    mean = lists.mean_over_negatives(lists.negatives)
    assert mean.dtype == torch.float32
    assert mean.tolist() == [(2048 + 1) / 2]


def test_empty_lists():
    for shape in ((0, 4), (3, 0), (0, 0)):
        lists = split_lists(torch.zeros(shape), torch.zeros(shape))
        assert not lists.complete.any()
        assert lists.positives.shape == (shape[0], 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SCORES, TARGET[:1]), r"target \(1, 4\) and scores \(2, 4\)"),
        ((SCORES, TARGET + 1), "target must contain only 0 and 1"),
        ((SCORES.long(), TARGET), "scores must be a floating-point tensor"),
        ((SCORES / 0 * 0, TARGET), "scores contains NaN"),
        ((SCORES, TARGET, None, -SCORES), "weight must not be negative, got -8"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        split_lists(*arguments)


def test_relevances_split_at_zero():
    scores = torch.tensor([[3.0, 1.0, 2.0, 0.0], [5.0, 6.0, 7.0, 8.0]])
    lists = split_lists(scores, torch.tensor([[0, 2, 0, 1], [1, 3, 2, 1]]), graded=True)
    assert lists.relevance[0, :2].tolist() == [2, 1]
    assert lists.positives[0, :2].tolist() == [1, 0]
    assert lists.relevances[0].tolist()[-4:][2:] == [0, 0]
    assert lists.scores.shape == lists.weight.shape == lists.relevances.shape
    assert lists.complete.tolist() == [True, True]  # the second has no 0 but three relevances
    for target in ([0, 0, 0, 0], [2, 2, 2, 2]):
        alike = split_lists(scores[:1], torch.tensor([target]), graded=True)
        assert alike.complete.tolist() == [False]
    weight = torch.tensor([[1.0, 0.0, 1.0, 1.0]])
    masked = split_lists(scores[:1], torch.tensor([[2, 1, 2, 2]]), weight=weight, graded=True)
    assert masked.complete.tolist() == [False]  # the only other relevance is not there


def test_relevance_of_labels_is_1_or_0():
    assert split_lists(SCORES[:1], TARGET[:1]).relevances.tolist() == [[1, 1, 0, 0]]


def test_relevances_must_not_be_negative():
    with pytest.raises(ValueError, match=r"target must not be negative, got -1"):
        split_lists(torch.zeros(2), torch.tensor([0, -1]), graded=True)
    with pytest.raises(ValueError, match="target contains NaN"):
        split_lists(torch.zeros(2), torch.tensor([0, torch.nan]), graded=True)


@pytest.mark.parametrize("columns", [639, 640, 641, 8])
@pytest.mark.parametrize("share", [0.003, 0.5])
def test_marks_are_found_in_order_however_sparse_they_are(columns, share):
    torch.manual_seed(0)
    target = torch.rand(30, columns) < share
    target[0] = False
    scores = torch.arange(30.0 * columns).reshape(30, columns)
    lists = split_lists(scores, target)
    for row in range(30):
        there = lists.positive_weight[row] > 0
        assert lists.positives[row][there].tolist() == scores[row][target[row]].tolist()


@pytest.mark.parametrize(
    ("given", "wide"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_half_is_widened_and_nothing_else_changes(given, wide):
    scores = torch.tensor([[1.0, 2.0, 3.0]], dtype=given)
    lists = split_lists(scores, torch.tensor([[1, 0, 1]])).widened()
    assert lists.positives.dtype == lists.negatives.dtype == wide
    assert lists.positives.tolist() == [[1, 3]]
    assert lists.negatives.tolist() == [[2]]


def test_lists_under_the_previous_parameters():
    scores, target = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1, 0, 1]])
    assert split_lists(scores, target).before is None
    lists = split_lists(scores, target, previous=10 * scores)
    before = lists.before
    assert (before.positives.tolist(), before.negatives.tolist()) == ([[10, 30]], [[20]])
    assert lists.replace(negative_previous=None).before is None  # half of them are known


def test_lists_are_even_only_with_their_own_weights():
    scores, target = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]), torch.eye(3)[:2]
    lists = split_lists(scores, target)
    assert lists.even
    assert lists.all_complete
    assert lists.detached().even
    assert not lists.replace(negative_weight=2 * lists.negative_weight).even
    assert not split_lists(scores, target, weight=torch.ones(2, 3)).even
    assert not split_lists(scores, torch.tensor([[1, 0, 0], [1, 1, 0]])).even  # padded
    assert not split_lists(scores[:1], torch.zeros(1, 3)).all_complete
    torch.testing.assert_close(
        lists.mean_over_negatives(lists.negatives),
        lists.replace(negative_weight=lists.negative_weight.clone()).mean_over_negatives(
            lists.negatives
        ),
    )


def test_scratch_goes_with_the_scores():
    lists = split_lists(torch.tensor([3.0, 1.0]), torch.tensor([1, 0]))
    lists.scratch["key"] = (lists.positives,)
    assert "key" in lists.detached().scratch
    assert "key" not in lists.replace(positives=-lists.positives).scratch
