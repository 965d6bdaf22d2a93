from __future__ import annotations

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of, settings

from rankwise.tasks.recommendation.sampling import Negatives

TRAIN = pairs_of([[0, 1], [0], [0, 2], [0]], n_items=5)


@pytest.mark.parametrize("sampling", ["uniform", "popularity"])
def test_weighted_sums_are_unbiased(sampling):
    torch.manual_seed(0)
    drawn = Negatives(TRAIN, settings(negatives=40_000, sampling=sampling))
    items, weight = drawn.draw()
    # Each item of the catalog counts once, however often it was drawn.
    total = torch.zeros(5).index_add_(0, items, weight)
    torch.testing.assert_close(total, torch.ones(5), atol=0.08, rtol=0)


def test_popular_items_are_drawn_more_often():
    drawn = Negatives(TRAIN, settings(sampling="popularity"))
    torch.testing.assert_close(drawn.share, torch.tensor([5, 2, 2, 1, 1]).double() / 11)


def test_the_correction_is_log_q_in_a_softmax():
    drawn = Negatives(TRAIN, settings(negatives=3, sampling="popularity"))
    torch.manual_seed(0)
    items, weight = drawn.draw()
    scores = torch.arange(5.0)[items]
    corrected = scores - (3 * drawn.share[items]).log()
    torch.testing.assert_close(
        (weight * scores.exp()).sum().log(), corrected.exp().sum().log().float()
    )


def test_without_correction_all_count_alike():
    _, weight = Negatives(TRAIN, settings(correction=False)).draw()
    assert (weight == 1).all()


def test_none_drawn_is_the_whole_catalog():
    items, weight = Negatives(TRAIN, settings(negatives=0)).draw()
    assert items.tolist() == [0, 1, 2, 3, 4]
    assert (weight == 1).all()
