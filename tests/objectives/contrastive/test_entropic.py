"""Entropic risk against cross-entropy over all classes, and from samples of them."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from rankwise.objectives import EntropicRisk

ITEMS, CLASSES = 12, 30
ALL = torch.arange(ITEMS)
FORMS = pytest.mark.parametrize("options", [{}, {"log_step": 0.0}], ids=["sox", "scent"])


def data(seed: int = 0) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    logits = 1.5 * torch.randn(ITEMS, CLASSES, generator=rng, dtype=torch.float64)
    return logits, torch.randint(CLASSES, (ITEMS,), generator=rng)


@FORMS
def test_all_classes_are_cross_entropy_at_every_visit(options):
    loss = EntropicRisk(ITEMS, CLASSES, **options)
    for seed in range(3):
        logits, y = data(seed)
        logits.requires_grad_()
        expected = cross_entropy(logits, y)
        value = loss(logits, one_hot(y, CLASSES), list_ids=ALL)
        torch.testing.assert_close(value, expected, rtol=1e-6, atol=1e-7)
        slopes = [torch.autograd.grad(each, logits)[0] for each in (value, expected)]
        torch.testing.assert_close(*slopes, rtol=1e-5, atol=1e-8)


def test_without_memory_the_gradient_is_that_of_finite_differences():
    logits, y = data()
    loss, own = EntropicRisk(None, 4 * CLASSES), one_hot(y[:3], CLASSES)
    few = logits[:3].clone().requires_grad_()
    torch.autograd.gradcheck(lambda s: loss(s, own), few)
    torch.autograd.gradgradcheck(lambda s: loss(s, own), few)


def sample(y: Tensor, others: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """The own class of every item first, then other classes; and the mark of the own class."""
    keys = torch.rand(len(y), CLASSES, generator=rng).scatter(1, y[:, None], 2.0)
    columns = keys.argsort(1, descending=True)[:, : others + 1]
    return columns, one_hot(torch.zeros_like(y), others + 1)


@FORMS
def test_samples_with_memory_approach_all_classes_and_without_are_biased(options):
    logits, y = data(5)
    whole = cross_entropy(logits, y).item()
    rng = torch.Generator().manual_seed(1)
    rate = {"log_step": -3.5} if options else {"ema_rate": 0.03}
    remembers, forgets = EntropicRisk(ITEMS, CLASSES, **rate), EntropicRisk(None, CLASSES)
    alone, late, steps = 0.0, [], 600
    for step in range(steps):
        columns, own = sample(y, 3, rng)
        some = logits.gather(1, columns)
        alone += forgets(some, own).item() / steps
        value = remembers(some.requires_grad_(), own, list_ids=ALL).item()
        if step >= steps // 2:
            late.append(value)
    left = sum(late) / len(late) - whole
    assert alone - whole < -0.2  # the logarithm of a noisy mean is too low
    assert abs(left) < abs(alone - whole) / 5


@FORMS
def test_the_gradient_with_memory_is_closer_to_that_of_all_classes(options):
    """The mean over samples, against the gradient of cross-entropy."""
    logits, y = data(7)
    logits.requires_grad_()
    (exact,) = torch.autograd.grad(cross_entropy(logits, y), logits)
    rng = torch.Generator().manual_seed(2)
    loss = EntropicRisk(ITEMS, CLASSES, **({"log_step": -3.5} if options else {"ema_rate": 0.03}))
    plain, means = EntropicRisk(None, CLASSES), torch.zeros(2, *logits.shape, dtype=torch.float64)
    for step in range(500):
        columns, own = sample(y, 3, rng)
        some = logits.gather(1, columns)
        values = loss(some, own, list_ids=ALL), plain(some, own)
        if step >= 200:
            slopes = [torch.autograd.grad(v, logits, retain_graph=True)[0] for v in values]
            means += torch.stack(slopes) / 300
    remembers, forgets = (float((mean - exact).norm() / exact.norm()) for mean in means)
    assert forgets > 0.2
    assert remembers < forgets / 2


def test_libaucs_update_and_gradient():
    """ν and the loss of LibAUC written out, on logits less that of the own class."""
    rng = torch.Generator().manual_seed(4)
    differences = [torch.randn(3, 5, generator=rng) for _ in range(3)]
    alpha, nu = 0.5, None
    loss = EntropicRisk(3, 10**6, log_step=alpha)
    for given in differences:
        h = given.clone().requires_grad_()
        g = h.exp().mean(1)
        if nu is None:
            nu = g.log().detach()
        else:
            step = math.exp(alpha)
            nu = nu + (1 + step * g.detach()).log() - (1 + step * nu.exp()).log()
        (expected,) = torch.autograd.grad(((h - nu[:, None]).exp().mean(1)).mean(), h)
        scores = torch.cat([torch.zeros(3, 1), h], 1)
        value = loss(scores, one_hot(torch.zeros(3).long(), 6), list_ids=torch.arange(3))
        (got,) = torch.autograd.grad(value, h)
        # The own class, 1 of 10⁶, is in our logarithm: of a large sum it takes next to nothing.
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(loss.average.value.squeeze(1), nu, rtol=1e-5, atol=1e-5)


def test_several_own_classes():
    scores, own = torch.tensor([[1.0, 0.0, 0.5, -1.0]]), torch.tensor([[1, 1, 0, 0]])
    value = EntropicRisk(None, 10)(scores, own)
    mean = (math.exp(0.5 - 0.5) + math.exp(-1.0 - 0.5)) / 2
    assert value.item() == pytest.approx(math.log(1 + 8 * mean))


def test_wrong_options_and_too_many_classes():
    with pytest.raises(ValueError, match="num_classes must be a whole number >= 2"):
        EntropicRisk(3, 1)
    with pytest.raises(ValueError, match="got 4 and an item with 5 logits"):
        EntropicRisk(None, 4)(torch.randn(2, 5), one_hot(torch.tensor([0, 1]), 5))
