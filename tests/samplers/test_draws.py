from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.samplers._draws import assign_to_batches, even_draws

many = settings(max_examples=200, deadline=None)


@st.composite
def draws(draw):
    things = draw(st.integers(1, 20))
    return things, draw(st.integers(1, things)), draw(st.integers(1, 40))


@given(case=draws(), seed=st.integers(0, 2**32))
@many
def test_draws_are_even_and_hold_nothing_twice(case, seed):
    things, per_draw, times = case
    drawn = even_draws(things, per_draw, times, np.random.default_rng(seed))
    assert drawn.shape == (times, per_draw)
    assert all(len(set(row)) == per_draw for row in drawn)
    counts = np.bincount(drawn.ravel(), minlength=things)
    assert len(counts) == things
    assert np.ptp(counts) <= 1


def test_draws_pass_over_the_things_in_a_new_order_each_time():
    passes = even_draws(50, 7, 50, np.random.default_rng(0)).reshape(7, 50)
    assert all(sorted(order) == list(range(50)) for order in passes)
    assert len({tuple(order) for order in passes}) == 7


def test_every_draw_is_as_likely():
    drawn = even_draws(5, 2, 20_000, np.random.default_rng(0))
    pairs = np.bincount(drawn.min(1) * 5 + drawn.max(1))
    assert (np.abs(pairs[pairs > 0] / 20_000 - 1 / 10) < 0.02).all()
    assert np.count_nonzero(pairs) == 10


@st.composite
def suits(draw):
    """Counts up to the number of batches that fill them, the last suits making up for the rest."""
    batches = draw(st.integers(1, 12))
    counts = draw(st.lists(st.integers(0, batches), min_size=1, max_size=15))
    return [*counts, -sum(counts) % batches], batches


@given(case=suits(), seed=st.integers(0, 2**32))
@many
def test_every_card_is_dealt_and_no_suit_twice_to_a_batch(case, seed):
    counts, batches = case
    hands = assign_to_batches(np.array(counts), batches, np.random.default_rng(seed))
    assert hands.shape == (batches, sum(counts) // batches)
    assert sorted(hands.ravel()) == list(range(sum(counts)))
    suit = np.repeat(np.arange(len(counts)), counts)[hands]
    assert all(len(set(row)) == len(row) for row in suit)


def test_suits_meet_many_others():
    hands = assign_to_batches(np.full(100, 10), 100, np.random.default_rng(0))
    suit = hands // 10
    met = [len(set(suit[(suit == s).any(1)].ravel())) - 1 for s in range(100)]
    # Ten hands with nine others each; 99 · (1 − (1 − 9/99)^10) ≈ 61 at random.
    assert abs(np.mean(met) - 61) < 3
