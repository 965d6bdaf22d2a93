from __future__ import annotations

from reproductions import Setting
from reproductions.papk_table1.measure import Plan, measure


def test_all_published_numbers_are_ours():
    values = measure(Plan(), Setting())
    assert sum(value.paper is not None for value in values) == 13
    assert all(value.agrees for value in values)


def test_another_ranking_is_told():
    values = measure(Plan({"f₁": "11111000000"}), Setting())
    assert not all(value.agrees for value in values)
