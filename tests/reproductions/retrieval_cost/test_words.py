from __future__ import annotations

import pytest
from tests.reproductions.retrieval_cost.small import small_plan

from reproductions.retrieval_cost.measure import Cell, Measured
from reproductions.retrieval_cost.tables import complete, main_table
from reproductions.retrieval_cost.words import conclusion, duels, goals


def cells(bench, **values):
    """Test mAP by method, one for each seed; underscores are spaces."""
    return [
        Cell(bench, name.replace("_", " "), seed, "x", 0.1, 112, 9, 4.0, 50.0, value, value, value)
        for name, own in values.items()
        for seed, value in enumerate(own)
    ]


AHEAD = {"SOPRC": (0.5, 0.6, 0.7), "SupCon": (0.4, 0.51, 0.6), "FastAP": (0.3, 0.4, 0.5)}
LEVEL = {"SOPRC": (0.5, 0.6, 0.7), "SupCon": (0.6, 0.5, 0.7)}


def measured(**benches):
    found = [c for name, own in benches.items() for c in cells(name.replace("_", "-"), **own)]
    return Measured(cells=found)


def test_the_difference_is_to_the_best_of_the_others_on_the_same_seeds():
    (found,) = duels(small_plan(), measured(omniglot_scratch=AHEAD))
    assert (found.own, found.other) == ("SOPRC", "SupCon")
    assert found.gap.value == pytest.approx((0.1 + 0.09 + 0.1) / 3)
    assert found.first
    assert "is +0.0967 ± 0.0143; 0 is not in the interval" in str(found)


def test_the_goal_needs_both_data_sets():
    plan = small_plan()
    both = duels(plan, measured(omniglot_scratch=AHEAD, cifar100_scratch=AHEAD))
    assert goals(both) == {"features": "open", "scratch": "met"}
    one = duels(plan, measured(omniglot_scratch=AHEAD, cifar100_scratch=LEVEL))
    assert goals(one)["scratch"] == "not met"


def test_a_method_ahead_of_ours_is_not_hidden():
    behind = {"SOPRC": AHEAD["SupCon"], "normalized_softmax": AHEAD["SOPRC"]}
    said = conclusion(small_plan(), measured(omniglot_features=behind, cifar100_features=behind))
    assert "less normalized softmax" in said[0]
    assert "-0.0967" in said[0]
    assert said[2].endswith("on features: not met.")


def test_one_seed_decides_nothing():
    alone = {"SOPRC": (0.9,), "SupCon": (0.1,)}
    (found,) = duels(small_plan(), measured(omniglot_scratch=alone))
    assert not found.first
    assert "0 is in the interval" not in str(found)


def test_only_seeds_of_all_methods_are_compared():
    partial = {"SOPRC": (0.5, 0.6, 0.7), "SupCon": (0.4, 0.5)}
    own = cells("omniglot-scratch", **partial)
    assert {cell.seed for cell in complete(own)} == {0, 1}
    table = main_table(own)
    assert [row[0] for row in table.rows] == ["SOPRC", "SupCon"]
    assert [row[-1] for row in table.rows] == [3, 2]
