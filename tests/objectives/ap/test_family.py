"""What the AP family shares: the scale that follows the scores, in training too."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.metrics import average_precision
from rankwise.objectives import SOPRC, AveragePrecision, StableAP


def trained(make, scale: float, seed: int) -> float:
    """Test AP of a linear model whose scores are multiplied by ``scale``."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(1500, 10, generator=generator)
    direction = torch.randn(10, generator=generator)
    noise = torch.randn(1500, generator=generator)
    y = x @ direction / direction.norm() + noise > 2.2
    weights = 0.1 * torch.randn(10, generator=generator)
    weights.requires_grad_()
    optimiser = torch.optim.Adam([weights], lr=0.05)
    loss = make()
    for _ in range(60):
        optimiser.zero_grad()
        loss(scale * (x[:1000] @ weights), y[:1000]).backward()
        optimiser.step()
    return float(average_precision(x[1000:] @ weights, y[1000:]))


@pytest.mark.parametrize(
    "make",
    [lambda: AveragePrecision(0.05), lambda: SOPRC(0.05), lambda: StableAP(0.05)],
    ids=["AveragePrecision", "SOPRC", "StableAP"],
)
def test_training_ends_alike_on_three_score_scales(make):
    results = {s: [trained(make, s, seed) for seed in range(5)] for s in (0.01, 1.0, 100.0)}
    means = {s: sum(values) / 5 for s, values in results.items()}
    error = torch.tensor(results[1.0]).std().item() / math.sqrt(5)
    for scale in (0.01, 100.0):
        assert abs(means[scale] - means[1.0]) <= error


def test_the_spread_is_within_lists_and_knows_mask_and_weight():
    loss = SOPRC(0.1)
    scores = torch.tensor([[0.0, 2.0, 50.0], [100.0, 102.0, 50.0]], requires_grad=True)
    mask = torch.tensor([[True, True, False]] * 2)
    loss(scores, torch.tensor([[1, 0, 0]] * 2), mask=mask)
    assert loss.spread.value.item() == 1  # variance of (0, 2), whatever the offset
    loss = SOPRC(0.1)
    loss(
        torch.tensor([0.0, 4.0], requires_grad=True),
        torch.tensor([1, 0]),
        weight=torch.tensor([3.0, 1.0]),
    )
    assert loss.spread.value.item() == pytest.approx(3 * 1 / 4 + 9 / 4)


def test_a_running_spread_moves_slowly():
    loss = SOPRC(0.1)
    target = torch.arange(100) < 10
    loss(torch.randn(100, requires_grad=True), target)
    before = loss.spread.value.item()
    loss(100 * torch.randn(100, requires_grad=True), target)
    assert before < loss.spread.value.item() < 0.2 * 100**2
