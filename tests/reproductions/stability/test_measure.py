"""Slopes of what is made up, and what is measured against a measurement by itself."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.reproductions.stability.made_up import PLAN, POWERS, measured

from rankwise.theory import BoundedDifference, Mean, bounded_difference, model_stability
from reproductions.frame import Setting
from reproductions.stability.losses import LISTS, RATE, models
from reproductions.stability.measure import Plan, measure

TINY = Plan(sizes=(16, 64), draws=2, n_positives=(5, 10), steps=(2, 4), repeats=2)


@pytest.mark.parametrize("name", LISTS)
def test_powers_are_found_again(name):
    slopes = measured().slopes(name)
    assert slopes.worst == pytest.approx(POWERS[name], abs=1e-12)
    assert slopes.worst_at_end == pytest.approx(POWERS[name], abs=1e-12)
    assert slopes.typical == pytest.approx(-1)
    assert slopes.positive == pytest.approx(-1)
    assert slopes.negative == pytest.approx(-1)


def test_the_end_is_between_the_two_largest_sizes():
    # Level up to 400 and then 1/n.
    slopes = measured(worst=lambda name, n: min(1.0, 400 / n)).slopes("StableAP")
    assert slopes.worst_at_end == pytest.approx(-1)
    assert slopes.worst == pytest.approx(-0.5)  # least squares of 0, 0, −1 at 0, 1, 2


def test_slopes_of_the_twins_are_after_the_last_step():
    def distance(name, n, steps):
        return n ** (-1.5 if steps == max(PLAN.steps) else 2.0)

    slopes = measured(distance=distance).slopes("SOPRC")
    assert (slopes.positive, slopes.negative) == pytest.approx((-1.5, -1.5))


def test_no_change_at_all_has_no_slope():
    found = measured(worst=lambda name, n: 0.0).slopes("plain AP")
    assert math.isnan(found.worst)
    assert math.isnan(found.worst_at_end)
    assert found.typical == pytest.approx(-1)


def test_stabilities_after_so_many_steps_are_by_the_number_of_positives():
    found = measured().at("SmoothAP", 5)
    assert [(s.n_positives, s.steps) for s in found] == [(10, 5), (40, 5)]
    assert measured().at("SmoothAP", 6) == []


def test_other_typical_changes_change_their_slope_alone():
    before = measured()
    rows = [
        BoundedDifference(row.n, Mean(row.n**-0.5, 0.0, 2), row.worst, row.where)
        for row in before.differences["SOPRC"]
    ]
    after = replace(before, differences={**before.differences, "SOPRC": rows})
    assert after.slopes("SOPRC").typical == pytest.approx(-0.5)
    assert replace(after.slopes("SOPRC"), typical=before.slopes("SOPRC").typical) == (
        before.slopes("SOPRC")
    )


def test_every_loss_has_every_size_and_every_training():
    found = measure(TINY, Setting(seed=2))
    assert list(found.differences) == list(found.stabilities) == list(LISTS)
    for name in LISTS:
        assert [row.n for row in found.differences[name]] == [16, 64]
        places = [(s.n_positives, s.steps) for s in found.stabilities[name]]
        assert places == [(5, 2), (5, 4), (10, 2), (10, 4)]
    assert found.plan is TINY


def test_a_part_is_what_the_theory_measures_by_itself():
    found = measure(TINY, Setting(seed=2))
    own = bounded_difference(LISTS["SOPRC"], (16, 64), rate=RATE, draws=2, seed=2)
    assert found.differences["SOPRC"] == own
    prior = 1 / (1 + found.training.negatives_per_positive)
    twins = model_stability(
        models(prior)["StableAP"], 10, (2, 4), training=found.training, repeats=2, seed=2
    )
    assert found.stabilities["StableAP"][2:] == twins
    assert measure(TINY, Setting(seed=3)).stabilities["StableAP"][2:] != twins


def test_how_far_it_is_can_be_seen():
    seen = []

    def track(work, doing):
        seen.append((doing, len(work)))
        return work

    measure(TINY, Setting(track=track))
    assert seen == [("replacing one example of a list", 5), ("training twins", 10)]
