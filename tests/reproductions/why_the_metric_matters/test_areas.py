from __future__ import annotations

import itertools

import pytest

from reproductions.why_the_metric_matters.areas import areas_of
from reproductions.why_the_metric_matters.example import Ranking
from reproductions.why_the_metric_matters.examples import PAPK_TOP_2


def test_the_areas_of_the_report_by_hand():
    # f₁ = 01101110000: negatives at ranks 1, 4, 8 are under 0, 2 and 5 of the five positives.
    auc, one_way, two_way, ap = areas_of(PAPK_TOP_2.rankings[0])
    assert auc.metric == pytest.approx(22 / 30)
    assert one_way.metric == pytest.approx((0 + 2 + 5) / 15)
    assert two_way.metric == pytest.approx((0 + 0 + 3) / 9)
    assert ap.metric == pytest.approx((1 / 2 + 2 / 3 + 3 / 5 + 4 / 6 + 5 / 7) / 5)


def test_area_and_metric_are_one_for_every_list_with_corners_there():
    # Five positives and six negatives: a share of 1/2 and of 2/5 falls on whole items.
    for positives in itertools.combinations(range(11), 5):
        labels = [int(rank in positives) for rank in range(11)]
        assert all(area.agrees for area in areas_of(Ranking.of("f", "", labels)))


def test_where_the_range_ends_inside_an_item_the_area_differs():
    areas = areas_of(Ranking.of("f", "", [1, 0, 1, 0, 0]))
    assert [area.agrees for area in areas] == [True, False, False, True]
