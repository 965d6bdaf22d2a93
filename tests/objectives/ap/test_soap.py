"""SOAP: its averages by hand over two steps, and its gradient ∇f(u)·∇ĝ."""

from __future__ import annotations

import torch

from rankwise.objectives import SOAP
from rankwise.pairs import SquaredHinge


def estimates(scores, target, prior):
    positives, negatives = scores[target], scores[~target]
    loss = SquaredHinge(1.0)
    right = prior * loss.value(positives[:, None] - positives).mean(1)
    return right, right + (1 - prior) * loss.value(positives[:, None] - negatives).mean(1)


def test_two_steps_by_hand():
    torch.manual_seed(0)
    target = torch.arange(12) < 3
    item_ids = torch.arange(12) + 5
    loss = SOAP(0.2, 20, ema_rate=0.25, score_scale=1.0)
    first = torch.randn(12, dtype=torch.float64, requires_grad=True)
    second = torch.randn(12, dtype=torch.float64, requires_grad=True)
    loss(first, target, item_ids=item_ids)
    value = loss(second, target, item_ids=item_ids)
    g = estimates(second, target, 0.2)
    u = [
        (0.75 * a + 0.25 * b).detach()
        for a, b in zip(estimates(first, target, 0.2), g, strict=True)
    ]
    torch.testing.assert_close(value.double(), (1 - u[0] / u[1]).mean(), rtol=1e-6, atol=1e-7)
    (gradient,) = torch.autograd.grad(value, second)
    carrier = (-g[0] / u[1] + u[0] / u[1] ** 2 * g[1]).mean()
    (expected,) = torch.autograd.grad(carrier, second)
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-7)


def test_only_the_positives_of_the_batch_are_remembered():
    loss = SOAP(0.2, 10, score_scale=1.0)
    loss(
        torch.randn(4, requires_grad=True),
        torch.tensor([1, 0, 1, 0]),
        item_ids=torch.tensor([7, 1, 2, 3]),
    )
    assert loss.average.seen.nonzero().flatten().tolist() == [2, 7]


def test_the_prior_corrects_for_the_rate_of_the_batch():
    torch.manual_seed(1)
    positives, negatives = torch.randn(2000) + 1, torch.randn(2000)

    def value(n_positive: int) -> float:
        scores = torch.cat([positives[:n_positive], negatives])
        target = torch.arange(len(scores)) < n_positive
        return float(
            SOAP(0.1, 4000, score_scale=1.0)(scores, target, item_ids=torch.arange(len(scores)))
        )

    assert abs(value(200) - value(2000)) < 0.02
