"""MinMaxAUC: its saddle is CompositionalAUC, and any optimizer finds it."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch

from rankwise.objectives import OneVsRest
from rankwise.objectives.auc import CompositionalAUC, MinMaxAUC

both = pytest.mark.parametrize("f", ["square", "squared_hinge"])


def sample(n=40, seed=0):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(n, dtype=torch.float64, generator=generator)
    target = torch.rand(n, generator=generator) < 0.3
    target[:2] = torch.tensor([True, False])
    return scores, target


def put(loss, a, b, alpha):
    loss.double()
    with torch.no_grad():
        for parameter, value in ((loss.a, a), (loss.b, b), (loss.alpha, alpha)):
            parameter.fill_(value)
    return loss


def saddle(scores, target, margin, f):
    scores = scores.detach()
    a, b = float(scores[target].mean()), float(scores[~target].mean())
    alpha = margin + b - a
    return a, b, alpha if f == "square" else max(alpha, 0.0)


@both
@pytest.mark.parametrize("margin", [0.1, 1.0])
@pytest.mark.parametrize("apart", [0.0, 3.0])  # with 3 the hinge has its margin, α is 0
def test_at_the_saddle_it_is_the_compositional_loss(f, margin, apart):
    scores, target = sample()
    scores = (scores + apart * target).requires_grad_()
    loss = put(MinMaxAUC(margin, f=f), *saddle(scores, target, margin, f))
    value, expected = loss(scores, target), CompositionalAUC(f, margin)(scores, target)
    torch.testing.assert_close(value, expected)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b)
    loss(scores, target).backward()
    for parameter in (loss.a, loss.b):
        torch.testing.assert_close(parameter.grad, torch.zeros(1).double())
    # The hinge with its margin met would go on to α < 0 if it were allowed to.
    at_wall = f == "squared_hinge" and apart == 3.0
    assert float(loss.alpha.grad) > 1 if at_wall else abs(float(loss.alpha.grad)) < 1e-12


@both
def test_the_saddle_is_one(f):
    scores, target = sample()
    a, b, alpha = saddle(scores, target, 1.0, f)
    middle = MinMaxAUC(f=f)
    value = put(middle, a, b, alpha)(scores, target).item()
    for shift in (-0.3, -0.01, 0.01, 0.3):
        assert put(middle, a + shift, b, alpha)(scores, target).item() > value
        assert put(middle, a, b + shift, alpha)(scores, target).item() > value
        assert put(middle, a, b, alpha + shift)(scores, target).item() < value


def test_gradients_of_the_parameters_that_of_alpha_negated():
    scores, target = sample(12)
    scores.requires_grad_()
    loss = put(MinMaxAUC(), 0.3, -0.4, 0.6)
    assert torch.autograd.gradcheck(
        lambda s, *_: loss(s, target), (scores, loss.a, loss.b), eps=1e-6
    )
    (gradient,) = torch.autograd.grad(loss(scores, target), loss.alpha)
    slack = 1 + scores[~target].mean() - scores[target].mean()
    torch.testing.assert_close(gradient, -(2 * slack - 2 * 0.6).detach().reshape(1))


def data(n=400, apart=1.0):
    generator = torch.Generator().manual_seed(3)
    target = torch.rand(n, generator=generator) < 0.2
    x = torch.randn(n, 4, generator=generator, dtype=torch.float64)
    direction = torch.tensor([1.0, 0.5, 0.0, -0.5], dtype=torch.float64)
    return x + apart * target[:, None] * direction, target


def best_weights(x, target, f):
    """The minimum of the convex compositional loss, to the last digits."""
    weights = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    loss = CompositionalAUC(f)
    solver = torch.optim.LBFGS(
        [weights], max_iter=500, tolerance_grad=1e-12, line_search_fn="strong_wolfe"
    )

    def closure():
        solver.zero_grad()
        value = loss(x @ weights, target)
        value.backward()
        return value

    solver.step(closure)
    return weights.detach()


@both
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_any_optimizer_finds_the_saddle(f, optimizer):
    x, target = data()
    expected = best_weights(x, target, f)
    weights = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    loss = MinMaxAUC(f=f).double()
    make = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam}[optimizer]
    solver = make([weights, *loss.parameters()], lr=0.1 if optimizer == "SGD" else 0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(solver, 600)
    for _ in range(600):
        solver.zero_grad()
        loss(x @ weights, target).backward()
        solver.step()
        schedule.step()
    torch.testing.assert_close(weights.detach(), expected, rtol=0, atol=1e-4)
    found = [float(p.detach()) for p in (loss.a, loss.b, loss.alpha)]
    assert found == pytest.approx(saddle(x @ expected, target, 1.0, f), abs=1e-4)


def test_a_batch_of_any_size_gives_an_unbiased_gradient():
    """The mean over all batches of 2 positives and 2 negatives is the gradient of the whole."""
    scores = torch.tensor([1.5, -0.4, 0.2, 0.9, -1.0, 0.1, 0.4, -0.3]).double().requires_grad_()
    target = torch.arange(8) < 3

    def gradients(loss):
        def gradient(chosen):
            inputs = (scores, *loss.parameters())
            return torch.cat(torch.autograd.grad(loss(scores[chosen], target[chosen]), inputs))

        batches = [
            gradient(torch.tensor(p + n))
            for p in combinations(range(3), 2)
            for n in combinations(range(3, 8), 2)
        ]
        return torch.stack(batches).mean(0), gradient(torch.arange(8))

    torch.testing.assert_close(*gradients(put(MinMaxAUC(), 0.3, -0.2, 0.7)))
    batches, whole = gradients(CompositionalAUC())
    assert (batches - whole).abs().max() > 0.01


def test_alpha_is_brought_back_in_training_and_only_there():
    scores, target = sample()
    scores = (scores + 5 * target).requires_grad_()
    loss = put(MinMaxAUC(), 0.0, 0.0, -0.5)
    expected = put(MinMaxAUC(), 0.0, 0.0, 0.0)(scores, target)
    loss.eval()
    torch.testing.assert_close(loss(scores, target), expected)
    loss.train()
    with torch.no_grad():
        torch.testing.assert_close(loss(scores, target), expected)
    assert loss.alpha.item() == -0.5
    value = loss(scores, target)
    assert loss.alpha.item() == 0
    torch.testing.assert_close(value, expected)
    # The gradient is that at α = 0, not that of a constant: α can leave 0 again.
    value.backward()
    slack = 1 + scores[~target].mean() - scores[target].mean()
    torch.testing.assert_close(loss.alpha.grad, -2 * slack.detach().reshape(1))
    free = put(MinMaxAUC(f="square"), 0.0, 0.0, -0.5)
    free(scores, target)
    assert free.alpha.item() == -0.5


def test_two_calls_before_one_backward():
    scores, target = sample()
    scores.requires_grad_()
    loss = put(MinMaxAUC(), 0.1, 0.2, -0.3)
    (loss(scores, target) + loss(2 * scores, target)).backward()
    once = put(MinMaxAUC(), 0.1, 0.2, 0.0)
    first = torch.autograd.grad(once(scores, target), once.alpha)[0]
    second = torch.autograd.grad(once(2 * scores, target), once.alpha)[0]
    torch.testing.assert_close(loss.alpha.grad, first + second)


def test_with_the_prior_it_is_the_published_loss():
    """AUCM as Yuan et al. print it, with means over all items and the prior p."""
    scores, target = sample()
    p = float(target.double().mean())
    a, b, alpha, margin = 0.3, -0.2, 0.7, 0.5
    y = target.double()
    published = (
        (1 - p) * ((scores - a) ** 2 * y).mean()
        + p * ((scores - b) ** 2 * (1 - y)).mean()
        + 2 * alpha * (p * (1 - p) * margin + (p * scores * (1 - y) - (1 - p) * scores * y).mean())
        - p * (1 - p) * alpha**2
    )
    loss = put(MinMaxAUC(margin, p), a, b, alpha)
    torch.testing.assert_close(loss(scores, target), published)


def test_weight_two_counts_twice():
    scores, target = sample()
    weight = torch.randint(0, 4, (40,), generator=torch.Generator().manual_seed(1))
    copies = torch.repeat_interleave(torch.arange(40), weight)
    loss = put(MinMaxAUC(), 0.3, -0.2, 0.7)
    torch.testing.assert_close(
        loss(scores, target, weight=weight.double()), loss(scores[copies], target[copies])
    )


def test_each_list_has_its_own_saddle():
    torch.manual_seed(0)
    logits, target = torch.randn(60, 3), torch.arange(60) % 3
    loss = OneVsRest(MinMaxAUC(num_lists=3))
    solver = torch.optim.SGD(loss.parameters(), lr=0.5)
    for _ in range(200):
        solver.zero_grad()
        loss(logits, target).backward()
        solver.step()
    for c in range(3):
        found = [float(p.detach()[c]) for p in loss.parameters()]
        expected = saddle(logits[:, c], target == c, 1.0, "squared_hinge")
        assert found == pytest.approx(expected, abs=1e-3)
    alone = MinMaxAUC(num_lists=3)
    alone(logits[:, 2].unsqueeze(0), (target == 2)[None], list_ids=torch.tensor([1])).backward()
    assert [float(g) != 0 for g in alone.b.grad] == [False, True, False]


def test_the_parameters_are_saved():
    loss = put(MinMaxAUC(num_lists=2), 0.3, -0.2, 0.7)
    other = MinMaxAUC(num_lists=2).double()
    other.load_state_dict(loss.state_dict())
    assert set(loss.state_dict()) == {"a", "b", "alpha"}
    assert other.alpha.tolist() == [0.7, 0.7]
    assert repr(MinMaxAUC(0.5, f="square")) == "MinMaxAUC(margin=0.5, f='square')"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(f="hinge"), "f must be one of 'squared_hinge', 'square', got 'hinge'"),
        (dict(margin=-1.0), "margin must be a finite number > 0, got -1.0"),
        (dict(prior=1.0), "prior must be None or a number between 0 and 1, got 1.0"),
        (dict(num_lists=0), "num_lists must be a whole number >= 1, got 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        MinMaxAUC(**options)
