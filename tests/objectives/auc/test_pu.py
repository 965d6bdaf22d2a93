"""PU-AUC against the risk of the labels that were hidden."""

from __future__ import annotations

import pytest
import torch

from rankwise.objectives import PUAUC, PairwiseAUC
from rankwise.pairs import Logistic, Sigmoid, SquaredHinge

PRIOR, LABELED, UNLABELED, DRAWS = 0.3, 30, 200, 400


def draw(seed):
    generator = torch.Generator().manual_seed(seed)
    truth = torch.rand(UNLABELED, generator=generator) < PRIOR
    scores = torch.randn(LABELED + UNLABELED, generator=generator)
    scores[:LABELED] += 1
    scores[LABELED:] += truth
    return scores, torch.arange(len(scores)) < LABELED


def population_risk(surrogate):
    """R_PN of N(1, 1) against N(0, 1): their difference is N(1, 2)."""
    x = torch.linspace(-15, 17, 20_001, dtype=torch.float64)
    density = torch.exp(-((x - 1) ** 2) / 4)
    return float((surrogate.value(x) * density).sum() / density.sum())


@pytest.mark.parametrize("surrogate", [Sigmoid(2.0), SquaredHinge(1.0), Logistic(1.0)], ids=str)
def test_the_risk_is_unbiased_over_draws(surrogate):
    loss, naive = PUAUC(PRIOR, surrogate, non_negative=False), PairwiseAUC(surrogate)
    draws = [draw(seed) for seed in range(DRAWS)]
    values = torch.stack([loss(*each) for each in draws])
    error = float(values.std()) / DRAWS**0.5
    right = population_risk(surrogate)
    assert abs(float(values.mean()) - right) < 3 * error
    assert float(torch.stack([naive(*each) for each in draws]).mean()) > right + 10 * error


def test_with_a_symmetric_surrogate_the_gradient_is_that_of_the_unlabeled_as_negatives():
    scores, target = draw(0)
    scores.requires_grad_()
    gradients = [
        torch.autograd.grad(loss(scores, target), scores)[0]
        for loss in (PUAUC(PRIOR), PairwiseAUC("sigmoid"))
    ]
    torch.testing.assert_close(gradients[0], gradients[1] / (1 - PRIOR))


def test_the_cut_is_for_surrogates_that_are_not_symmetric():
    target = torch.arange(6) < 3
    spread = torch.tensor([30.0, 20.0, 10.0, 0.0, -1.0, -2.0])  # R_PU = 0, R_PP is large
    assert PUAUC(0.4, "squared_hinge")(spread, target) == 0
    among = torch.tensor([11.0**2, 21.0**2, 11.0**2]).sum() / 6
    risk = PUAUC(0.4, "squared_hinge", non_negative=False)(spread, target)
    torch.testing.assert_close(risk, -0.4 * among / 0.6)
    symmetric = PUAUC(0.4, "sigmoid(scale=9)")(spread, target)
    torch.testing.assert_close(symmetric, torch.tensor(-0.2 / 0.6))
    assert PUAUC(0.4, "sigmoid(scale=9)", non_negative=True)(spread, target) == 0


@pytest.mark.parametrize("surrogate", ["sigmoid", "squared_hinge"])
def test_one_labeled_positive_is_its_own_other(surrogate):
    scores, target = torch.tensor([0.0, 1.0, -1.0]), torch.tensor([1, 0, 0])
    among = 0.5 if surrogate == "sigmoid" else 1.0
    expected = (PairwiseAUC(surrogate)(scores, target) - 0.3 * among) / 0.7
    torch.testing.assert_close(PUAUC(0.3, surrogate)(scores, target), expected)
    weight = torch.full((3,), 0.5)
    torch.testing.assert_close(PUAUC(0.3, surrogate)(scores, target, weight=weight), expected)


def test_weight_two_is_two_positives():
    scores, target = draw(1)
    weight = torch.ones(len(scores))
    weight[3] = 2
    repeated = torch.cat([scores, scores[3:4]]), torch.cat([target, target[3:4]])
    for name in ("sigmoid", "squared_hinge"):
        found = PUAUC(PRIOR, name)(scores, target, weight=weight)
        torch.testing.assert_close(found, PUAUC(PRIOR, name)(*repeated))


@pytest.mark.parametrize("prior", [0, 1, 1.5, None, True])
def test_the_prior_is_a_share_among_the_unlabeled(prior):
    with pytest.raises(ValueError, match=r"prior must be in \(0, 1\), got .* among the unlabeled"):
        PUAUC(prior)
