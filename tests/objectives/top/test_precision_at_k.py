"""PrecisionAtK against its definition: a maximum over all choices of k items, enumerated."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.metrics import precision_at_k
from rankwise.objectives.top import PrecisionAtK

SURROGATES = ("avg", "ramp", "max")
every_surrogate = pytest.mark.parametrize("surrogate", SURROGATES)


def enumerated(surrogate, scores, positive, k):
    """The three surrogates as the paper defines them, over all ŷ with k items."""
    items = range(len(scores))
    positives = [i for i in items if positive[i]]
    n = len(positives)
    k = min(k, n)

    def total(chosen):
        return sum(scores[i] for i in chosen)

    best = max(total(chosen) for chosen in combinations(positives, k))
    values = []
    for chosen in combinations(items, k):
        errors = sum(not positive[i] for i in chosen)
        missed = [i for i in positives if i not in chosen]
        if surrogate == "ramp":
            values.append(errors + total(chosen) - best)
            continue
        if surrogate == "avg":
            back = (n - k) / len(missed) * total(missed) if missed else 0
        else:
            back = max(total(kept) for kept in combinations(missed, n - k))
        values.append(errors + total(chosen) - total(positives) + back)
    return max(values) / k


ITEMS = st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=2, max_size=9).filter(
    lambda items: 0 < sum(positive for _, positive in items) < len(items)
)


@every_surrogate
@given(items=ITEMS, k=st.integers(1, 5))
@settings(max_examples=60)
def test_value_equals_the_maximum_over_all_choices(surrogate, items, k):
    scores, positive = [s / 4 for s, _ in items], [p for _, p in items]
    loss = PrecisionAtK(k, surrogate, score_scale=1)
    value = loss(torch.tensor(scores, dtype=torch.float64), torch.tensor(positive))
    assert float(value) == pytest.approx(enumerated(surrogate, scores, positive, k), abs=1e-12)


@given(items=ITEMS, k=st.integers(1, 5))
@settings(max_examples=60)
def test_they_bound_the_error_of_precision_in_their_order(items, k):
    scores = torch.tensor([s / 4 for s, _ in items], dtype=torch.float64)
    target = torch.tensor([p for _, p in items])
    found = {
        name: float(PrecisionAtK(k, name, score_scale=1)(scores, target)) for name in SURROGATES
    }
    reachable = min(k, int(target.sum()))
    error = 1 - float(precision_at_k(scores, target, k=reachable, ties="against"))
    assert error <= found["ramp"] + 1e-9
    assert found["ramp"] <= found["avg"] + 1e-9
    assert found["avg"] <= found["max"] + 1e-9


def test_by_hand():
    scores = torch.tensor([3.0, 0.5, 0.0, 1.0, -1.0])
    target = torch.tensor([1, 1, 1, 0, 0])
    # ŷ = {3, 1}: the negative in place of .5, of the mean of .5 and 0, and of 0; all over k = 2.
    expected = {"ramp": 1 + 1 - 0.5, "avg": 1 + 1 - 0.25, "max": 1 + 1 - 0.0}
    for name, value in expected.items():
        assert float(PrecisionAtK(2, name, score_scale=1)(scores, target)) == pytest.approx(
            value / 2
        )


@pytest.mark.parametrize(
    ("surrogate", "positives", "nearly"),
    [
        ("ramp", (1.0, 1.0, -5.0), (1.0, 0.9, -5.0)),  # k of them 1 above all negatives
        ("avg", (5.0, 2.0, 0.0), (5.0, 1.9, 0.0)),  # the mean of the lowest n⁺ − k + 1 = 2
        ("max", (1.0, 1.0, 1.0), (9.0, 0.9, 9.0)),  # all of them
    ],
)
def test_zero_under_the_margin_condition_and_not_without(surrogate, positives, nearly):
    loss, target = PrecisionAtK(2, surrogate, score_scale=1), torch.tensor([1, 1, 1, 0, 0, 0])
    below = (0.0, -2.0, 0.0)
    assert float(loss(torch.tensor([*positives, *below]), target)) == 0
    assert float(loss(torch.tensor([*nearly, *below]), target)) > 0


@pytest.mark.parametrize("surrogate", ["avg", "max"])
def test_convex(surrogate):
    torch.manual_seed(0)
    target = torch.arange(12) < 5
    for k in (1, 3, 9):
        loss = PrecisionAtK(k, surrogate, score_scale=1)
        for _ in range(50):
            a, b = torch.randn(2, 12, dtype=torch.float64)
            assert loss((a + b) / 2, target) <= (loss(a, target) + loss(b, target)) / 2 + 1e-12


def test_the_ramp_is_not_convex():
    target = torch.tensor([1, 1, 0])
    ends = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    loss = PrecisionAtK(1, "ramp", score_scale=1)
    assert [float(loss(s, target)) for s in (ends[0], ends.mean(0), ends[1])] == [0, 0.5, 0]


@every_surrogate
def test_weight_two_counts_twice_and_two_halves_as_one(surrogate):
    torch.manual_seed(1)
    scores, target = torch.randn(40, dtype=torch.float64), torch.rand(40) < 0.4
    weight = torch.randint(0, 4, (40,))
    times = torch.repeat_interleave(torch.arange(40), weight)
    for k in (1, 7, 60):
        loss = PrecisionAtK(k, surrogate, score_scale=1)
        expected = loss(scores[times], target[times])
        torch.testing.assert_close(loss(scores, target, weight=weight.double()), expected)
        halves = loss(scores.repeat(2), target.repeat(2), weight=torch.full((80,), 0.5))
        torch.testing.assert_close(halves, loss(scores, target))


@every_surrogate
def test_the_gradient_follows_the_items_where_they_are_tied(surrogate):
    torch.manual_seed(2)
    scores, target = torch.randint(0, 3, (30,)).double(), torch.rand(30) < 0.5
    order, loss = torch.randperm(30), PrecisionAtK(4, surrogate)

    def gradient(s, t):
        s = s.clone().requires_grad_()
        return torch.autograd.grad(loss(s, t), s)[0]

    expected = gradient(scores, target)
    assert expected.abs().sum() > 0
    torch.testing.assert_close(gradient(scores[order], target[order]), expected[order])


@every_surrogate
def test_scores_far_from_zero_keep_their_digits(surrogate):
    torch.manual_seed(3)
    scores, target = torch.randint(-40, 40, (200,)) / 16, torch.rand(200) < 0.3
    loss = PrecisionAtK(9, surrogate, score_scale=1)
    shifted = loss(scores + 2.0**17, target)  # still exact in float32
    torch.testing.assert_close(shifted, loss(scores, target), rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(k=0), "k must be a whole number >= 1, got 0"),
        (dict(k=0.25), "k must be a whole number >= 1, got 0.25"),
        (dict(k=2, form="ts"), "form must be one of 'avg', 'ramp', 'max', 'soft', got"),
        (dict(k=2, temperature=0), "temperature must be a finite number > 0, got 0"),
        (dict(k=2, score_scale=-1), "score_scale must be a finite number > 0, got -1"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        PrecisionAtK(**options)


@pytest.mark.parametrize("temperature", [1e-3, 1e-6])
def test_the_soft_cut_becomes_precision_at_k(temperature):
    torch.manual_seed(0)
    scores, target = torch.randn(5, 60), torch.rand(5, 60) < 0.4
    loss = PrecisionAtK(7, "soft", temperature=temperature)
    expected = 1 - precision_at_k(scores, target, k=7)
    assert float(loss(scores, target)) == pytest.approx(float(expected), abs=0.02)


@pytest.mark.parametrize("surrogate", ["avg", "max"])
def test_margins_in_units_of_the_spread_leave_nothing_to_be_had_by_shrinking(surrogate):
    torch.manual_seed(1)
    scores, target = torch.randn(3, 40, dtype=torch.float64), torch.arange(40) % 4 == 0
    target = target.expand(3, 40)
    loss = PrecisionAtK(5, surrogate)
    assert float(loss(scores / 1000, target)) == pytest.approx(float(loss(scores, target)))
    scores.requires_grad_()
    (slope,) = torch.autograd.grad(loss(scores, target), scores)
    assert float(slope.abs().sum()) > 0
    assert (slope * scores).sum().item() == pytest.approx(0, abs=1e-12)
    as_printed = PrecisionAtK(5, surrogate, score_scale=1)
    (slope,) = torch.autograd.grad(as_printed(scores, target), scores)
    assert abs((slope * scores).sum().item()) > 1e-3
