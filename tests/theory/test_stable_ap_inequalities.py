"""Lemmas 3 and 8 and Theorem 1 of StableAP, by hand, by brute force and over random lists."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.metrics import average_precision
from rankwise.pairs import Hinge, OneSidedHuber, OneSidedSigmoid, SquaredHinge
from rankwise.theory import (
    Inequality,
    rank_weights,
    stable_ap_lemma_3,
    stable_ap_lemma_8,
    stable_ap_q,
    stable_ap_theorem_1,
)

LEMMAS = (stable_ap_lemma_3, stable_ap_lemma_8, stable_ap_theorem_1)
SURROGATES = (OneSidedHuber(0.1), OneSidedHuber(1.0), Hinge(1.0), SquaredHinge(1.0))


def test_weights_by_hand():
    ranks = torch.tensor([0.1, 0.5, 0.6, 1.0], dtype=torch.float64)
    expected = [0.5 / 0.3, 1.0, 3 / 2.6, 1.0]
    assert rank_weights(ranks, bound=2.0).tolist() == pytest.approx(expected)


def test_q_lies_between_its_limits():
    assert stable_ap_q(0.0) == pytest.approx(math.pi / 2 + 2)
    assert stable_ap_q(1e12) == pytest.approx(math.pi / 2 + 1)


def by_hand(positives, negatives, surrogate, width, epsilon, a, t):
    """All sides, pair by pair."""
    rho = len(negatives) / len(positives)
    bound = rho * max(float(surrogate.value(torch.tensor(x))) for x in (-width, width))
    q = math.pi / 2 + 2 * (1 + bound) / (1 + 2 * bound)
    center = sum(positives) / len(positives)
    exact, middle, printed, smooth, weights = 0.0, 0.0, 0.0, 0.0, 0.0

    def loss(x):
        return float(surrogate.value(torch.tensor(x, dtype=torch.float64)))

    for s in positives:
        r = sum(other >= s for other in positives) / len(positives)
        error = sum(loss(s - n) for n in negatives) / len(negatives)
        wrong = sum(s <= n for n in negatives) / len(negatives)
        w = 0.5 / math.sqrt(r - r * r) if r <= 0.5 else (1 + bound) / (r + bound)
        tilde = ((1 + a) / (min(loss(s - center) / (bound / rho), 1.0) + a)) ** t
        exact += rho * wrong / r / (1 + rho * wrong / r)
        middle += rho * error / r / (1 + rho * error / r)
        printed += rho * w * error
        smooth += rho * tilde * error
        weights += w
    n = len(positives)

    def h(x):
        return math.sqrt(epsilon**2 + x / (1 + x))

    return (
        (1.0, weights / n, q / 2),
        (h(printed / n), q * h(smooth / n)),
        (exact / n, middle / n, q / 2 * h(printed / n)),
    )


@pytest.mark.parametrize("surrogate", SURROGATES, ids=repr)
def test_sides_equal_the_sums_pair_by_pair(surrogate):
    positives, negatives = [0.9, 0.2, 0.2, -0.4, 0.7], [0.8, 0.2, -0.9]
    more = {"width": 2.5, "epsilon": 0.3, "a": 0.2, "t": 1.5}
    expected = by_hand(positives, negatives, surrogate, **more)
    given = torch.tensor(positives).double(), torch.tensor(negatives).double(), surrogate
    found = (
        stable_ap_lemma_3(*given, width=2.5),
        stable_ap_lemma_8(*given, **more),
        stable_ap_theorem_1(*given, width=2.5, epsilon=0.3),
    )
    for claim, sides in zip(found, expected, strict=True):
        assert [float(side) for side in claim.sides] == pytest.approx(sides)


def test_the_left_side_of_theorem_1_is_one_minus_ap():
    rng = torch.Generator().manual_seed(1)
    positives, negatives = torch.rand(4, 6, generator=rng), torch.rand(4, 9, generator=rng)
    target = torch.arange(15) < 6
    claim = stable_ap_theorem_1(positives, negatives, OneSidedHuber(0.5))
    for left, above, below in zip(claim.sides[0], positives, negatives, strict=True):
        expected = 1 - float(average_precision(torch.cat([above, below]), target))
        assert float(left) == pytest.approx(expected)


scores = st.floats(-1, 1, width=32) | st.sampled_from([-1.0, 0.0, 0.5, 1.0])  # with ties


@given(
    st.lists(scores, min_size=1, max_size=12),
    st.lists(scores, min_size=1, max_size=12),
    st.sampled_from(SURROGATES),
    st.floats(0.001, 2),
    st.floats(0.01, 2),
    st.floats(0, 3),
)
@settings(max_examples=200, deadline=None)
def test_they_hold_for_every_list(positives, negatives, surrogate, epsilon, a, t):
    above, below = torch.tensor(positives).double(), torch.tensor(negatives).double()
    assert stable_ap_lemma_3(above, below, surrogate).holds
    assert stable_ap_lemma_8(above, below, surrogate, epsilon=epsilon, a=a, t=t).holds
    assert stable_ap_theorem_1(above, below, surrogate, epsilon=epsilon).holds


@pytest.mark.parametrize("surrogate", SURROGATES, ids=repr)
def test_they_hold_in_20_000_random_lists(surrogate):
    rng = torch.Generator().manual_seed(2)
    for n, m in ((1, 1), (2, 9), (7, 3), (30, 30), (40, 5)):
        above, below = (2 * torch.rand(1000, k, generator=rng).double() - 1 for k in (n, m))
        for lemma in LEMMAS:
            claim = lemma(above, below, surrogate)
            assert str(claim) == f"{claim.name}: holds in 1,000 of 1,000 draws"


def test_theorem_1_needs_a_surrogate_above_the_step():
    above, below = torch.tensor([0.0]), torch.tensor([0.01])  # wrong by little
    claim = stable_ap_theorem_1(above, below, OneSidedSigmoid(1.0))
    assert not claim.holds
    assert stable_ap_theorem_1(above, below, OneSidedHuber(1.0)).holds


def test_a_wrong_inequality_is_seen():
    claim = Inequality("wrong", (torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])))
    assert claim.holds.tolist() == [False, True]
    assert str(claim) == "wrong: holds in 1 of 2 draws"


@pytest.mark.parametrize("lemma", LEMMAS)
def test_errors_name_the_argument(lemma):
    with pytest.raises(ValueError, match=r"^width must"):
        lemma(torch.zeros(1), torch.zeros(1), Hinge(), width=0.0)
    with pytest.raises(ValueError, match=r"^negatives must be one or more"):
        lemma(torch.zeros(1), torch.zeros(0), Hinge())
