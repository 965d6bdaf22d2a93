"""PApAtK against the paper: its table, its subgradients, its order and the claims that fail."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.metrics import pap_at_k
from rankwise.objectives.top import PApAtK

SURROGATES = ("avg", "max", "ts", "ts_eq14", "ramp")
every_surrogate = pytest.mark.parametrize("surrogate", SURROGATES)


def joined(positives, negatives):
    scores = torch.tensor([*positives, *negatives], dtype=torch.float64)
    return scores, torch.arange(len(scores)) < len(positives)


def values(positives, negatives, k):
    scores, target = joined(positives, negatives)
    return {name: float(PApAtK(k, name, score_scale=1)(scores, target)) for name in SURROGATES}


def risk(positives, negatives, k):
    """Eq. 1, pair by pair."""
    upper, lower = sorted(positives)[::-1][:k], sorted(negatives)[::-1][:k]
    wrong = sum(p <= n for p in upper for n in lower)
    return wrong / (len(upper) * len(lower))


@pytest.mark.parametrize(
    ("ranking", "k", "gain"),
    [
        ("01101110000", 2, 2 / 4),
        ("10111000001", 2, 3 / 4),
        ("11000000111", 2, 1.0),
        ("11011100000", 6, 27 / 30),
        ("11101100000", 6, 28 / 30),
    ],
)
def test_table_1_and_the_surrogates_at_scores_a_margin_apart(ranking, k, gain):
    target = torch.tensor([int(label) for label in ranking])
    scores = torch.arange(11, 0, -1, dtype=torch.float64)
    # With every two scores 10⁹ apart a hinge is 0 where the pair is right, and over 0 where not.
    apart = 1e9 * scores
    assert float(pap_at_k(scores, target, k=k)) == pytest.approx(gain)
    ramp = float(PApAtK(k, "ramp", score_scale=1)(apart, target))
    assert (ramp == 0) == (gain == 1)
    assert ramp >= 1 - gain
    positives, negatives = apart[target == 1], apart[target == 0]
    assert risk(positives.tolist(), negatives.tolist(), k) == pytest.approx(1 - gain)


SCORES = st.lists(st.integers(-6, 6).map(lambda i: i / 4), min_size=1, max_size=7)


@given(positives=SCORES, negatives=SCORES, k=st.integers(1, 8))
@settings(max_examples=100)
def test_the_order_that_holds(positives, negatives, k):
    found, exact = values(positives, negatives, k), risk(positives, negatives, k)
    assert exact <= found["ramp"] + 1e-9
    assert found["ramp"] <= found["max"] + 1e-9
    assert found["avg"] <= found["max"] + 1e-9
    assert found["ramp"] <= found["ts"] + 1e-9
    assert exact <= found["ts_eq14"] + 1e-9
    assert found["ts_eq14"] <= found["ts"] + 1e-9
    if len(positives) <= k:
        assert found["ts_eq14"] == pytest.approx(found["ramp"], abs=1e-9)


def test_the_average_is_no_bound_of_the_risk():
    positives, negatives = (20.0, -1.0), (0.0, 0.0)
    found = values(positives, negatives, 2)
    assert risk(positives, negatives, 2) == 0.5
    assert found["ramp"] == 1  # (0 + 0 + 2 + 2)/4
    assert found["avg"] == 0  # [1 − 9.5 + 0]₊


def test_ts_is_the_form_of_algorithm_2_and_ts_eq14_that_of_equation_14():
    found = values((0.5, 0.4), (0.0,), 1)
    assert found["ts"] == pytest.approx(0.5)  # [1 − .5]₊ + [0 − .4]₊
    assert found["ts_eq14"] == pytest.approx(0.1)  # both below the negative: 1 − .5 − .4
    assert found["ramp"] == pytest.approx(0.5)
    assert found["max"] == pytest.approx(0.6)


def equation_14(positives, negatives, k):
    """Eq. 14 as printed: the maximum over every Z⁻ and every ordering of it with the positives."""
    beta, size = min(len(positives), k), min(len(negatives), k)
    best = 0.0
    for chosen in combinations(negatives, size):
        items = [(p, True) for p in positives] + [(n, False) for n in chosen]
        for order in permutations(items):
            total, above, first = 0.0, [], 0
            for score, positive in order:
                if positive:
                    margin, first = first < beta, first + 1
                    total += sum(margin - score + n for n in above)
                else:
                    above.append(score)
            best = max(best, total)
    return best / (beta * size)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_equation_14_is_the_maximum_over_all_orderings(k, shift):
    rng = torch.Generator().manual_seed(k)
    for n_positives, n_negatives in ((3, 3), (4, 2), (2, 4)):
        for _ in range(4):
            positives = (torch.randn(n_positives, generator=rng) + shift).tolist()
            negatives = torch.randn(n_negatives, generator=rng).tolist()
            expected = equation_14(positives, negatives, k)
            assert values(positives, negatives, k)["ts_eq14"] == pytest.approx(expected, abs=1e-12)


def test_proposition_5_fails_for_equation_14():
    """ramp ≤ TS is claimed; about one of 13 random lists has ramp > Eq. 14, and none its risk."""
    rng = torch.Generator().manual_seed(0)
    scores = torch.randn(6000, 8, dtype=torch.float64, generator=rng)
    target = (torch.arange(8) < 4).expand_as(scores)
    scores[target] += 1
    ramp, eq14 = (
        PApAtK(2, form, score_scale=1, reduction="none")(scores, target)
        for form in ("ramp", "ts_eq14")
    )
    share = float((ramp > eq14 + 1e-9).double().mean())
    assert 1 / 15 < share < 1 / 11
    exact = 1 - pap_at_k(scores, target, k=2, ties="against", average="none")
    assert bool((exact <= eq14 + 1e-9).all())


@pytest.mark.parametrize(
    ("surrogate", "positives", "nearly"),
    [
        ("ramp", (1.0, 1.0, -5.0), (1.0, 0.9, -5.0)),  # β of them 1 above all negatives
        ("avg", (1.0, 3.0, -1.0), (1.0, 2.9, -1.0)),  # their mean
        ("max", (1.0, 1.0, 1.0), (1.0, 0.9, 1.0)),  # all of them
        ("ts", (1.0, 1.0, 0.0), (1.0, 1.0, -0.1)),  # β of them, and all above
        ("ts_eq14", (1.0, 1.0, 0.0), (1.0, 1.0, -0.1)),  # the same condition
    ],
)
def test_zero_under_the_margin_condition_and_not_without(surrogate, positives, nearly):
    loss = PApAtK(2, surrogate, score_scale=1)
    assert float(loss(*joined(positives, (0.0, -0.5, 0.0)))) == 0
    assert float(loss(*joined(nearly, (0.0, -0.5, 0.0)))) > 0


@pytest.mark.parametrize("surrogate", ["avg", "max", "ts_eq14"])
def test_convex(surrogate):
    torch.manual_seed(0)
    target = torch.arange(12) < 5
    for k in (1, 3, 9):
        loss = PApAtK(k, surrogate, score_scale=1)
        for _ in range(50):
            a, b = torch.randn(2, 12, dtype=torch.float64)
            assert loss((a + b) / 2, target) <= (loss(a, target) + loss(b, target)) / 2 + 1e-12


@pytest.mark.parametrize("surrogate", ["ts", "ramp"])
def test_not_convex(surrogate):
    found = [values(p, (0.0,), 1)[surrogate] for p in ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0))]
    assert found == [0, 0.5, 0]


def algorithm_2(scores, target, surrogate, k):
    """The paper's subgradient for w = scores and one-hot features, loop by loop."""
    features = torch.eye(len(scores), dtype=scores.dtype)
    order = scores.argsort(descending=True)
    positives = [features[i] for i in order if target[i]]
    negatives = [features[i] for i in order if not target[i]][:k]
    beta, k = min(len(positives), k), len(negatives)
    mean = sum(positives) / len(positives)
    total = torch.zeros_like(scores)
    if surrogate == "avg":
        for _ in range(beta):
            for z in negatives:
                total += (1 - scores @ (mean - z) >= 0) * (z - mean)
    elif surrogate == "max":
        for x in positives[-beta:]:
            for z in negatives:
                total += (1 - scores @ (x - z) >= 0) * (z - x)
    else:
        for i, x in enumerate(positives, start=1):
            for z in negatives:
                total += (scores @ (x - z) <= int(i <= beta)) * (z - x)
    return total / (beta * k)


@pytest.mark.parametrize("surrogate", ["avg", "max", "ts"])
@pytest.mark.parametrize("k", [1, 4, 30])
def test_the_gradient_is_that_of_algorithm_2(surrogate, k):
    torch.manual_seed(k)
    scores = torch.randn(30, dtype=torch.float64, requires_grad=True)
    target = torch.arange(30) % 3 == 0
    (gradient,) = torch.autograd.grad(PApAtK(k, surrogate, score_scale=1)(scores, target), scores)
    torch.testing.assert_close(gradient, algorithm_2(scores.detach(), target, surrogate, k))


@every_surrogate
def test_weight_two_counts_twice_and_two_halves_as_one(surrogate):
    torch.manual_seed(1)
    scores, target = torch.randn(40, dtype=torch.float64), torch.rand(40) < 0.4
    weight = torch.randint(0, 4, (40,))
    times = torch.repeat_interleave(torch.arange(40), weight)
    loss = PApAtK(7, surrogate, score_scale=1)
    expected = loss(scores[times], target[times])
    torch.testing.assert_close(loss(scores, target, weight=weight.double()), expected)
    halves = loss(scores.repeat(2), target.repeat(2), weight=torch.full((80,), 0.5))
    torch.testing.assert_close(halves, loss(scores, target))


@every_surrogate
def test_the_gradient_follows_the_items_where_they_are_tied(surrogate):
    torch.manual_seed(2)
    scores, target = torch.randint(0, 3, (30,)).double(), torch.rand(30) < 0.5
    order, loss = torch.randperm(30), PApAtK(4, surrogate)

    def gradient(s, t):
        s = s.clone().requires_grad_()
        return torch.autograd.grad(loss(s, t), s)[0]

    expected = gradient(scores, target)
    assert expected.abs().sum() > 0
    torch.testing.assert_close(gradient(scores[order], target[order]), expected[order])


def test_a_list_with_few_negatives_uses_all_of_them():
    scores, target = joined((0.0, 2.0), (1.0,))
    assert float(PApAtK(5, "ramp", score_scale=1)(scores, target)) == (2 + 0) / 2
    assert float(PApAtK(5, "avg", score_scale=1)(scores, target)) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(k=0), "k must be a whole number >= 1, got 0"),
        (dict(k=2.5), "k must be a whole number >= 1, got 2.5"),
        (dict(k=2, form="mean"), "form must be one of 'avg', 'max', 'ts', 'ts_eq14', 'ramp'"),
        (dict(k=2, temperature=-1), "temperature must be a finite number > 0, got -1"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        PApAtK(**options)


def test_the_soft_step_becomes_the_metric():
    torch.manual_seed(0)
    scores, target = torch.randn(5, 60), torch.rand(5, 60) < 0.4
    loss = PApAtK(7, "soft", temperature=1e-5)
    expected = 1 - pap_at_k(scores, target, k=7)
    assert float(loss(scores, target)) == pytest.approx(float(expected), abs=1e-3)


@pytest.mark.parametrize("surrogate", ["avg", "max", "ts", "ts_eq14"])
def test_margins_in_units_of_the_spread_leave_nothing_to_be_had_by_shrinking(surrogate):
    torch.manual_seed(1)
    scores = torch.randn(3, 40, dtype=torch.float64)
    target = (torch.arange(40) % 4 == 0).expand(3, 40)
    loss = PApAtK(5, surrogate)
    assert float(loss(scores / 1000, target)) == pytest.approx(float(loss(scores, target)))
    scores.requires_grad_()
    (slope,) = torch.autograd.grad(loss(scores, target), scores)
    assert float(slope.abs().sum()) > 0
    assert (slope * scores).sum().item() == pytest.approx(0, abs=1e-12)
