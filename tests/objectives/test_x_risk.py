from __future__ import annotations

import copy

import pytest
import torch
from tests.compiling import check_compiled_step, quiet_compiler
from torch import nn

from rankwise.objectives import SOAP, XRisk
from rankwise.pairs import Square, SquaredHinge

TARGET = torch.tensor([1, 1, 0, 0, 0])
IDS = torch.arange(5)


def test_two_steps_by_hand():
    loss = XRisk(Square(1.0), torch.log, num_items=5, ema_rate=0.25)
    first = torch.tensor([0.5, 0.0, 0.1, -0.3, 0.7])
    second = torch.tensor([0.2, 0.4, 0.0, -0.1, 0.3], requires_grad=True)
    loss(first.requires_grad_(), TARGET, item_ids=IDS)
    value = loss(second, TARGET, item_ids=IDS)

    def inner(s: torch.Tensor) -> torch.Tensor:
        return ((1 - s[:2, None] + s[2:]) ** 2).mean(1)

    g = inner(second)
    u = 0.75 * inner(first.detach()) + 0.25 * g.detach()
    torch.testing.assert_close(value, u.log().mean())
    (gradient,) = torch.autograd.grad(value, second)
    (expected,) = torch.autograd.grad((g / u).mean(), second)
    torch.testing.assert_close(gradient, expected)


def test_it_is_soap_with_soaps_functions():
    """Objectives with a memory are XRisk with a name."""
    hinge = SquaredHinge(1.0)

    def ranks(anchors: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        right = 0.3 * hinge.value(anchors[:, None] - anchors).mean(1)
        return torch.stack([right, right + 0.7 * hinge.value(anchors[:, None] - others).mean(1)], 1)

    ours = XRisk(ranks, lambda g: 1 - g[..., 0] / g[..., 1], num_items=5, ema_rate=0.2, width=2)
    soap = SOAP(0.3, num_items=5, ema_rate=0.2, score_scale=1.0)
    for step in range(3):
        scores = torch.randn(5, generator=torch.Generator().manual_seed(step), requires_grad=True)
        a, b = ours(scores, TARGET, item_ids=IDS), soap(scores, TARGET, item_ids=IDS)
        torch.testing.assert_close(a, b)
        torch.testing.assert_close(torch.autograd.grad(a, scores), torch.autograd.grad(b, scores))


def test_a_memory_takes_the_bias_of_small_batches_away():
    """f is concave: E f(ĝ) of a batch is below f(E ĝ); f(u) with slow averages is not."""
    rng = torch.Generator().manual_seed(0)
    scores = torch.randn(400, generator=rng)
    target = torch.arange(400) < 20

    def inner(x: torch.Tensor) -> torch.Tensor:
        return (-3 * x).exp()

    whole = XRisk(inner, torch.log)(scores, target)
    tracked = XRisk(inner, torch.log, num_items=400, ema_rate=0.02)
    plain = XRisk(inner, torch.log)
    found: dict[str, list[float]] = {"tracked": [], "plain": []}
    for step in range(600):
        negatives = 20 + torch.randperm(380, generator=rng)[:8]
        chosen = torch.cat([torch.arange(20), negatives])
        batch = scores[chosen].requires_grad_(), target[chosen]
        value = tracked(*batch, item_ids=chosen)
        if step >= 300:
            found["tracked"].append(value.item())
            found["plain"].append(plain(*batch).item())
    bias = {name: sum(values) / len(values) - float(whole) for name, values in found.items()}
    assert bias["plain"] < -0.3
    assert abs(bias["tracked"]) < 0.3 * abs(bias["plain"])


def test_the_correction_follows_a_moving_model():
    """With exact estimates under both parameters STORM's u is the estimate of now."""
    loss = XRisk(Square(1.0), lambda g: g, num_items=5, ema_rate=0.1)
    first = torch.tensor([0.5, 0.0, 0.1, -0.3, 0.7], requires_grad=True)
    second = torch.tensor([0.2, 0.4, 0.0, -0.1, 0.3], requires_grad=True)
    loss(first, TARGET, item_ids=IDS)
    exact = XRisk(Square(1.0), lambda g: g)(second, TARGET)
    slow = copy.deepcopy(loss)
    corrected = loss(second, TARGET, item_ids=IDS, previous_scores=first)
    torch.testing.assert_close(corrected, exact)
    torch.testing.assert_close(loss.average.value[:2, 0].mean(), exact.detach())
    assert not torch.isclose(slow(second, TARGET, item_ids=IDS), exact)
    with pytest.raises(ValueError, match="previous_scores contains NaN"):
        loss(second, TARGET, item_ids=IDS, previous_scores=torch.tensor([0, 0, torch.nan, 0, 0]))


class TestOfBatches:
    @staticmethod
    def inner(anchors: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        return (anchors @ others.T).exp().mean(1)

    def test_values_gradient_and_memory(self):
        torch.manual_seed(0)
        loss = XRisk(self.inner, torch.log, num_items=10, ema_rate=0.5)
        anchors, others = torch.randn(3, 4, requires_grad=True), torch.randn(6, 4)
        item_ids = torch.tensor([7, 2, 5])
        torch.testing.assert_close(
            loss.of_batches(anchors, others, item_ids=item_ids),
            self.inner(anchors, others).log().mean(),
        )
        moved = anchors + 0.3
        g, before = self.inner(moved, others), self.inner(anchors, others).detach()
        value = loss.of_batches(moved, others, item_ids=item_ids)
        u = 0.5 * before + 0.5 * g.detach()
        torch.testing.assert_close(value, u.log().mean())
        torch.testing.assert_close(
            torch.autograd.grad(value, anchors), torch.autograd.grad((g / u).mean(), anchors)
        )
        torch.testing.assert_close(loss.average.value[item_ids, 0], u)

    def test_the_batches_under_the_previous_parameters(self):
        loss = XRisk(self.inner, lambda g: g, num_items=3, ema_rate=0.1)
        first, second = torch.zeros(3, 2, requires_grad=True), torch.ones(3, 2, requires_grad=True)
        ids = torch.arange(3)
        loss.of_batches(first, second, item_ids=ids)
        value = loss.of_batches(second, second, item_ids=ids, previous=(first, second))
        torch.testing.assert_close(value, self.inner(second, second).mean())

    def test_no_anchors_is_nothing(self):
        loss = XRisk(self.inner, torch.log, num_items=3)
        none = torch.zeros(0, 2, requires_grad=True)
        value = loss.of_batches(none, torch.ones(4, 2), item_ids=torch.zeros(0, dtype=torch.long))
        assert value.item() == 0
        value.backward()
        assert not loss.average.seen.any()

    @pytest.mark.parametrize(
        ("item_ids", "message"),
        [
            (None, r"item_ids must have one id per anchor, shape \(3,\), got none"),
            (torch.arange(2), r"shape \(3,\), got shape \(2,\)"),
            (torch.arange(3) + 8, "item_ids must lie between 0 and 9"),
        ],
    )
    def test_a_bad_index_is_named(self, item_ids, message):
        loss = XRisk(self.inner, torch.log, num_items=10)
        with pytest.raises(ValueError, match=message):
            loss.of_batches(torch.zeros(3, 2), torch.zeros(3, 2), item_ids=item_ids)

    def test_a_function_of_differences_is_refused(self):
        with pytest.raises(ValueError, match="inner must be a function of two batches"):
            XRisk(Square(1.0), torch.log).of_batches(torch.zeros(3, 2), torch.zeros(3, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inner": 3}, "inner must be a surrogate or a function, got 3"),
        ({"inner": lambda a, b, c: a}, "got a function of 3 arguments"),
        ({"over": "some"}, "over must be one of 'negatives', 'all', got 'some'"),
        ({"width": 2}, "width must be 1 for an inner function of differences, got 2"),
        ({"num_items": 0}, "num_items must be a whole number >= 1, got 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        XRisk(**{"inner": Square(1.0), "outer": torch.log, **options})


def test_bad_functions_are_named():
    scores = torch.zeros(5, requires_grad=True)
    with pytest.raises(ValueError, match=r"inner must return 1 number\(s\) for each of 2 anchors"):
        XRisk(lambda a, b: a.unsqueeze(1) - b, torch.log)(scores, TARGET)
    with pytest.raises(ValueError, match="the result of outer must have the shape"):
        XRisk(Square(1.0), torch.sum)(scores, TARGET)
    loss = XRisk(lambda a, b: a - b.mean(), torch.exp)
    with pytest.raises(ValueError, match=r"weight must be 0 or 1 .* such as 2\.0"):
        loss(scores, TARGET, weight=torch.tensor([1.0, 1, 1, 2, 1]))


def test_a_builtin_and_a_module_are_functions_of_differences():
    scores = torch.tensor([0.5, 0.0, 0.1, -0.3, 0.7])
    x = scores[:2, None] - scores[2:]
    torch.testing.assert_close(
        XRisk(torch.relu, torch.exp)(scores, TARGET), x.relu().mean(1).exp().mean()
    )
    torch.testing.assert_close(
        XRisk(nn.Softplus(), torch.exp)(scores, TARGET),
        nn.functional.softplus(x).mean(1).exp().mean(),
    )


@quiet_compiler
def test_of_batches_runs_in_eager_mode_when_it_is_compiled():
    def make():
        loss = XRisk(lambda a, b: (a @ b.T).exp().mean(1), torch.log, num_items=5)
        return lambda anchors, others: loss.of_batches(anchors, others, item_ids=IDS)

    check_compiled_step(make, torch.rand(5, 3), torch.rand(4, 3))
