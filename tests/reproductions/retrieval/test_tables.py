from __future__ import annotations

import pytest
from tests.reproductions.retrieval.cells import cells

from rankwise.theory import mean_of
from reproductions.retrieval.tables import (
    best_of,
    difference_table,
    main_table,
    paired,
    time_table,
    with_interval,
)
from reproductions.retrieval.timing import Time
from reproductions.retrieval.words import conclusion, untrained

OURS = ("SOPRC", "StableAP")
THREE = [
    *cells("SOPRC", [0.50, 0.60, 0.70], 0.5),
    *cells("StableAP", [0.10, 0.20, 0.30], 0.6),
    *cells("SupCon", [0.49, 0.57, 0.68], 0.9),
]


def test_the_best_is_chosen_by_validation_and_not_by_the_test():
    assert best_of(THREE, OURS) == "StableAP"
    assert best_of(THREE, ("SOPRC", "absent")) == "SOPRC"


def test_differences_are_taken_on_the_same_seed():
    found = paired(THREE, "SOPRC", "SupCon")
    assert found.value == pytest.approx(0.02)
    assert found.half_width() < mean_of([0.50, 0.60, 0.70]).half_width() / 5
    table = difference_table({("letters", "pretrained"): THREE}, OURS)
    rows = dict(table.rows)
    assert rows["best of ours"] == "StableAP"
    assert rows["− StableAP"] == ""
    assert rows["− SupCon"].startswith("-0.3800 ± ")


def test_the_table_begins_with_the_best_and_one_seed_has_no_interval():
    table = main_table(THREE, "letters")
    assert [row[0] for row in table.rows] == ["SOPRC", "SupCon", "StableAP"]
    assert table.rows[0][1].startswith("0.6000 ± ")
    one = main_table(cells("SOPRC", [0.5]), "letters")
    assert one.rows[0][1] == "0.5000"
    assert "interval" not in one.caption
    assert with_interval(mean_of([0.25]), sign=True) == "+0.2500"


@pytest.mark.parametrize(
    ("own", "other", "words"),
    [
        ([0.5, 0.51, 0.52], [0.4, 0.41, 0.42], "beyond the noise"),
        ([0.5, 0.4, 0.6], [0.45, 0.5, 0.5], "within the noise"),
        ([0.5], [0.4], "of one seed"),
    ],
)
def test_what_is_said_of_a_difference(own, other, words):
    found = conclusion(
        {("letters", "pretrained"): [*cells("SOPRC", own), *cells("SupCon", other)]}, OURS
    )
    assert len(found) == 1
    assert words in found[0]


def test_times_begin_with_the_cheapest_loss():
    table = time_table([Time("slow", 8.0, 10.0), Time("fast", 1.0, 4.0)], "net")
    assert table.rows == [("fast", "1.0", "4.0", "25%"), ("slow", "8.0", "10.0", "80%")]


def test_methods_above_what_is_not_trained_are_counted():
    before = {"features": {"map": 0.59, "hit": 0.7}, "start": {"map": 0.1, "hit": 0.2}}
    words = untrained({"letters": before}, THREE)
    assert "have mAP 0.5900 and R@1 0.7000, 1 of 3 methods are above" in words
    assert "has 0.1000 and 0.2000, 3 are above" in words
