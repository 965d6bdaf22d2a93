import math
from dataclasses import replace

import pytest
import torch

from rankwise.metrics.ranking import band, mass_above, rank_items

SCORES = torch.tensor([[1.0, 3.0, 1.0, 2.0]])
TARGET = torch.tensor([[1, 0, 0, 1]])


def test_equal_scores_share_a_level():
    ranking = rank_items(SCORES, TARGET)
    assert ranking.positives.tolist() == [[0, 1, 1]]
    assert ranking.negatives.tolist() == [[1, 0, 1]]
    assert ranking.mass.tolist() == [[1, 1, 2]]


def test_against_puts_tied_negatives_first():
    ranking = rank_items(SCORES, TARGET, ties="against")
    assert ranking.positives.tolist() == [[0, 1, 0, 1]]
    assert ranking.negatives.tolist() == [[1, 0, 1, 0]]


def test_one_order_carries_many_weights():
    ranking = rank_items(SCORES, TARGET)
    weight = torch.tensor([[2.0, 0, 1, 1], [1.0, 1, 0, 3]], dtype=torch.float64)
    masses = replace(ranking, weight=weight[:, ranking.order[0]])
    assert masses.mass.tolist() == [[0, 1, 3], [1, 3, 1]]
    assert masses.n_positives.tolist() == [[3], [4]]


def test_whole_weights_are_counts():
    weight = torch.tensor([[1.0, 2, 0, 1], [1.0, 0.5, 1, 1]])
    ranking = rank_items(SCORES.expand(2, 4), TARGET.expand(2, 4), weight)
    assert ranking.counts.tolist() == [[True], [False]]


def test_rows_with_fewer_levels_end_in_empty_ones():
    ranking = rank_items(torch.tensor([[1.0, 1.0], [1.0, 2.0]]), torch.tensor([[0, 1], [0, 1]]))
    assert ranking.mass.tolist() == [[2, 0], [1, 1]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ties", ["standard", "against"])
def test_a_long_list_has_the_levels_of_its_short_rows(dtype, ties):
    """Of two equal rows each is sorted by torch, one list alone by numpy."""
    torch.manual_seed(0)
    scores = torch.randint(0, 500, (1, 3000)).to(dtype)
    scores[0, :2] = torch.tensor([math.inf, -math.inf])
    target, weight = torch.randint(0, 2, (1, 3000)), torch.randint(0, 4, (1, 3000))
    long = rank_items(scores, target, weight, ties)
    rows = rank_items(*(each.expand(2, -1) for each in (scores, target, weight)), ties)
    torch.testing.assert_close(long.scores, rows.scores[:1])
    torch.testing.assert_close(long.scores, scores.gather(-1, long.order))
    for name in ("positives", "negatives", "mass"):
        torch.testing.assert_close(getattr(long, name), getattr(rows, name)[:1])


def test_mass_above_and_band():
    mass = torch.tensor([[2.0, 1.0, 4.0]], dtype=torch.float64)
    assert mass_above(mass).tolist() == [[0, 2, 3]]
    assert band(mass, 1.0, 3.5).tolist() == [[1, 1, 0.5]]
    assert band(mass, torch.tensor([[3.0]]), 9.0).tolist() == [[0, 0, 4]]
