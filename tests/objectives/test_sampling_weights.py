"""Weights of one over the inclusion probability recover the values of the full data."""

from __future__ import annotations

import pytest
import torch

from rankwise.metrics import auprc, auroc, average_precision
from rankwise.objectives import SOPRC, AveragePrecision, PairwiseAUC, PUAveragePrecision

POSITIVES, NEGATIVES, RATE, DRAWS = 300, 20_000, 0.15, 40


def full():
    generator = torch.Generator().manual_seed(0)
    target = torch.arange(POSITIVES + NEGATIVES) < POSITIVES
    scores = torch.randn(len(target), generator=generator) + 2 * target
    hard = torch.rand(len(target), generator=generator) < 0.2
    return scores + hard * ~target, target, hard


def sample(seed, chance):
    """The kept items, and one over the probability of each."""
    scores, target, _ = full()
    generator = torch.Generator().manual_seed(seed + 1)
    kept = torch.rand(len(target), generator=generator) < chance
    return scores[kept], target[kept], 1 / chance[kept]


def by_class(rate=RATE):
    _, target, _ = full()
    return torch.where(target, 1.0, rate)


def by_stratum():
    """Negatives of one kind are drawn five times as often: AUC is biased without weights, too."""
    _, target, hard = full()
    return torch.where(target, 1.0, torch.where(hard, 5 * RATE, RATE))


PLAIN = {"score_scale": 1.0, "gain": "fixed"}
VALUES = {
    "AUROC": auroc,
    "AP": average_precision,
    "PairwiseAUC": PairwiseAUC(),
    "AveragePrecision": AveragePrecision(**PLAIN),
    "SOPRC": SOPRC(None, **PLAIN).eval(),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("design", [by_class, by_stratum], ids=["by class", "by stratum"])
def test_weighted_values_are_those_of_the_full_data(name, design):
    value, chance = VALUES[name], design()
    scores, target, _ = full()
    right = float(value(scores, target))
    samples = [sample(seed, chance) for seed in range(DRAWS)]
    weighted = torch.tensor([float(value(s, t, weight=w)) for s, t, w in samples])
    plain = torch.tensor([float(value(s, t)) for s, t, _ in samples])
    error = float(weighted.std())
    # AP is not linear in the weights: its bias is less than the error of one sample, but not 0.
    bias = abs(float(weighted.mean()) - right)
    assert bias < error
    if design is by_stratum or name not in ("AUROC", "PairwiseAUC"):
        assert abs(float(plain.mean()) - right) > max(2 * error, 5 * bias)


@pytest.mark.parametrize("name", ["AP", "AveragePrecision", "SOPRC"])
def test_the_bias_of_ap_vanishes_as_more_is_sampled(name):
    scores, target, _ = full()
    biases = []
    for rate in (0.05, 0.4):
        samples = [sample(seed, by_class(rate)) for seed in range(DRAWS)]
        values = [float(VALUES[name](s, t, weight=w)) for s, t, w in samples]
        biases.append(abs(sum(values) / DRAWS - float(VALUES[name](scores, target))))
    assert biases[1] < biases[0] / 3


@pytest.mark.parametrize("objective", [AveragePrecision, SOPRC, PUAveragePrecision])
def test_a_prior_and_weights_that_are_equal_in_a_class_do_not_correct_twice(objective):
    scores, target, weight = sample(0, by_class())
    loss = objective(0.015, **PLAIN).eval()
    torch.testing.assert_close(loss(scores, target, weight=weight), loss(scores, target))
    found = auprc(scores, target, prior=0.015, weight=weight)
    torch.testing.assert_close(found, auprc(scores, target, prior=0.015))
