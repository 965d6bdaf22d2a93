"""The pairwise Rademacher complexity against all signs, and against closed forms."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch

from rankwise.functional import stable_weights
from rankwise.pairs import Linear, OneSidedHuber
from rankwise.theory import (
    StableAPBounds,
    WeightedPairs,
    linear_rademacher,
    pairwise_rademacher,
)

HUBER = WeightedPairs(OneSidedHuber(0.5))


def sums(scores, target, signs, pairs=HUBER):
    """T_f(σ) of one scorer, pair by pair as in Definition 2."""
    present = target.bool()
    positives, negatives = scores[present], scores[~present]
    gap = positives - positives.mean()
    weights = stable_weights(pairs.surrogate, gap, pairs.width, pairs.a, pairs.t)
    total = 0.0
    for i, j in product(range(len(positives)), range(len(negatives))):
        both = signs[i] + signs[len(positives) + j]
        loss = float(pairs.surrogate.value(positives[i] - negatives[j]))
        total += both / (2 * len(positives) * len(negatives)) * float(weights[i]) * loss
    return total


def made_up(scorers, n_positives, n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.rand(scorers, n, generator=generator, dtype=torch.float64) - 1
    return scores, torch.arange(n) < n_positives


def test_the_estimate_is_the_mean_over_all_signs():
    scores, target = made_up(5, 2, 6)
    exact = [
        max(abs(sums(row, target, signs)) for row in scores) for signs in product((-1, 1), repeat=6)
    ]
    found = pairwise_rademacher(scores, target, pairs=HUBER, draws=20_000)
    assert found.n == 20_000
    assert abs(found.value - sum(exact) / 64) < 3.5 * found.standard_error
    assert found.standard_error < 0.02 * found.value


def test_factors_of_the_signs_are_those_of_the_definition():
    scores, target = made_up(3, 3, 7, seed=1)
    factors = HUBER.coefficients(scores, target)
    signs = torch.tensor([1.0, -1, 1, 1, -1, -1, 1], dtype=torch.float64)
    for row, factor in zip(scores, factors, strict=True):
        assert float(factor @ signs) == pytest.approx(sums(row, target, signs.tolist()))


def test_positives_need_not_come_first():
    scores, target = made_up(4, 3, 8, seed=2)
    order = torch.tensor([3, 0, 4, 1, 5, 6, 2, 7])  # each class keeps its own order
    mixed = pairwise_rademacher(scores[:, order], target[order], pairs=HUBER, draws=50)
    assert mixed.value == pytest.approx(
        pairwise_rademacher(scores, target, pairs=HUBER, draws=50).value
    )


def test_a_larger_class_is_at_least_as_complex():
    scores, target = made_up(20, 4, 10, seed=3)
    few, many = (
        pairwise_rademacher(part, target, pairs=HUBER, draws=100).value
        for part in (scores[:3], scores)
    )
    assert few < many


def test_more_items_make_it_smaller():
    few, many = (
        pairwise_rademacher(*made_up(10, n // 4, n, seed=4), pairs=HUBER, draws=200).value
        for n in (20, 2000)
    )
    assert many < few / 4


def test_the_linear_class_of_a_linear_loss_has_a_closed_form():
    """ℓ(x) = −x without weights: sup over the ball of |w·D(σ)| is radius · ‖D(σ)‖."""
    generator = torch.Generator().manual_seed(5)
    features = torch.randn(12, 3, generator=generator, dtype=torch.float64)
    target = torch.arange(12) < 4
    pairs = WeightedPairs(Linear(), width=1.0, t=0.0)
    found = linear_rademacher(features, target, 0.7, pairs=pairs, draws=20, steps=200)
    generator.manual_seed(0)  # the signs of the estimate
    signs = 2 * torch.randint(2, (20, 12), generator=generator, dtype=torch.float64) - 1
    both = (signs[:, :4, None] + signs[:, None, 4:]) / (2 * 4 * 8)
    apart = features[:4, None] - features[None, 4:]
    exact = 0.7 * torch.einsum("kij,ijd->kd", both, apart).norm(dim=1)
    assert found.value == pytest.approx(float(exact.mean()), rel=1e-3)


def test_ascent_finds_the_supremum_of_a_fine_grid():
    """One feature and ‖w‖ ≤ 1: the class is an interval, and a grid of it is exact enough."""
    generator = torch.Generator().manual_seed(6)
    features = torch.randn(30, 1, generator=generator, dtype=torch.float64)
    target = torch.arange(30) < 10
    grid = torch.linspace(-1, 1, 801, dtype=torch.float64).unsqueeze(1)
    whole = pairwise_rademacher(torch.tanh(grid @ features.T), target, pairs=HUBER, draws=20)
    found = linear_rademacher(
        features, target, pairs=HUBER, link=torch.tanh, draws=20, starts=8, steps=100
    )
    assert found.value == pytest.approx(whole.value, rel=0.02)


@pytest.mark.parametrize(
    ("scores", "target", "name"),
    [
        (torch.zeros(4), torch.tensor([1, 0, 0, 0]), "scores"),
        (torch.zeros(2, 3), torch.tensor([1, 0, 0, 0]), "scores"),
        (torch.zeros(2, 3), torch.tensor([1, 1, 1]), "target"),
    ],
)
def test_errors_name_the_argument(scores, target, name):
    with pytest.raises(ValueError, match=name):
        pairwise_rademacher(scores, target)


# What StableAP proves of the complexity, for scores in [−1, 1] and τ = .5.
BOUNDS = StableAPBounds(0.2, tau=0.5)


def linear_scores(n, scorers=200, seed=0):
    """Scores tanh(w·x) of scorers with ‖w‖ ≤ 1, three features, a fifth of them positives."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    weights = torch.randn(scorers, 3, generator=generator, dtype=torch.float64)
    weights = weights / weights.norm(dim=1, keepdim=True)
    return torch.tanh(weights @ features.T), torch.arange(n) < n // 5


def test_lemma_10_samples_differ_by_less_than_its_deviation():
    found = [
        pairwise_rademacher(*linear_scores(50, seed=seed), pairs=HUBER, draws=200).value
        for seed in range(10)
    ]
    middle = sum(found) / len(found)
    assert max(abs(each - middle) for each in found) < BOUNDS.complexity_deviation(10, 40, 0.05)
    assert max(found) > min(found)


@pytest.mark.parametrize("n", [25, 250])
def test_theorem_5_is_above_the_complexity(n):
    found = pairwise_rademacher(*linear_scores(n), pairs=HUBER, draws=100)
    assert found.value < BOUNDS.chaining(n // 5, n - n // 5, capacity=3)


def test_lemma_11_bounds_the_spread_of_a_difference_over_the_signs():
    """A sub-Gaussian variable has a variance of at most C²·max|f − f'|²."""
    scores, target = linear_scores(50, scorers=40, seed=3)
    factors = HUBER.coefficients(scores, target)
    slope = 2 * BOUNDS.weight_bound * BOUNDS.loss_slope + BOUNDS.loss_bound * BOUNDS.weight_slope
    c = slope / 2 * math.sqrt(1 / 10 + 1 / 40)
    for i, j in product(range(40), repeat=2):
        variance = float((factors[i] - factors[j]).square().sum())  # of Σ σ_k (a_k − b_k)
        assert variance <= (c * float((scores[i] - scores[j]).abs().max())) ** 2
