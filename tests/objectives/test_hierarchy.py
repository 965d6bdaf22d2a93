"""Levels of a label tree and the relevances they make."""

from __future__ import annotations

import pytest
import torch

from rankwise.objectives import embedding_scores, shared_levels, tree_relevance

LABELS = torch.tensor([[0, 0, 0], [0, 0, 1], [0, 2, 1], [1, 0, 0], [0, 0, 0]])


def test_levels_are_shared_from_the_root_on():
    found = shared_levels(LABELS[:1], LABELS)
    assert found.tolist() == [[3, 2, 1, 0, 3]]  # the fourth has the same numbers in another branch
    assert torch.equal(shared_levels(LABELS), shared_levels(LABELS, LABELS))


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5])
def test_the_items_of_a_level_weigh_together_by_its_depth(alpha):
    torch.manual_seed(0)
    levels = torch.randint(0, 4, (6, 50))
    relevance = tree_relevance(levels, 3, alpha=alpha)
    for level in (1, 2, 3):
        together = (relevance * (levels == level)).sum(1)
        torch.testing.assert_close(together, torch.full_like(together, (level / 3) ** alpha))
    assert (relevance[levels == 0] == 0).all()


def test_masked_items_are_not_counted():
    levels, mask = torch.tensor([[2, 2, 1]]), torch.tensor([[False, True, True]])
    assert tree_relevance(levels, 2, mask=mask).tolist() == [[0, 1, 0.5]]


def test_embeddings_with_labels_of_several_levels():
    labels = LABELS[:, :2]
    lists = embedding_scores(torch.randn(5, 4), labels, torch.randn(2, 4), labels[:2], alpha=2.0)
    levels = shared_levels(labels, torch.cat([labels, labels[:2]]))
    expected = tree_relevance(levels, 2, alpha=2.0, mask=lists.mask)
    torch.testing.assert_close(lists.target, expected)
    assert lists.target[0, 0] == 0  # the query itself


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shared_levels(torch.zeros(3)), r"shapes \(items, levels\) with the same levels"),
        (lambda: shared_levels(LABELS, LABELS[:, :2]), r"got \(5, 3\) and \(5, 2\)"),
        (lambda: tree_relevance(torch.tensor([[3]]), 2), "levels must be from 0 to depth, 2, got"),
        (lambda: tree_relevance(torch.tensor([[1]]), 0), "depth must be a whole number >= 1"),
        (lambda: tree_relevance(torch.tensor([[1]]), 1, alpha=-1.0), "alpha must be a finite"),
        (
            lambda: embedding_scores(torch.zeros(4, 2), torch.zeros(3, 2)),
            r"labels must have one class per item, shape \(4,\) or \(4, levels\), got \(3, 2\)",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
