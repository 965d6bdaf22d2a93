"""Attacks on a ranking: the closed form on a linear model, and that nothing else changes."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from rankwise.metrics import auroc
from rankwise.objectives import SOAP, SOPRC
from rankwise.objectives.auc import (
    MinMaxAUC,
    PairwiseAUC,
    adversarial_loss,
    projected_gradient_attack,
)
from rankwise.pairs import Logistic

W = torch.tensor([1.0, -2.0, 0.5])
by_norm = pytest.mark.parametrize("norm", ["linf", "l2"])


def linear(x):
    return x @ W


def sample(n=50, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 3, generator=generator), torch.rand(n, generator=generator) < 0.3


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1), nn.Flatten(0)
    )


@by_norm
@pytest.mark.parametrize("random_start", [True, False])
def test_the_closed_form_of_a_linear_model(norm, random_start):
    x, target = sample()
    moved = projected_gradient_attack(
        linear,
        x,
        target,
        PairwiseAUC(Logistic(1.0)),
        radius=0.3,
        step=0.1,
        steps=60,
        norm=norm,
        random_start=random_start,
    )
    way = W.sign() if norm == "linf" else W / W.norm()
    expected = x + 0.3 * torch.where(target, -1.0, 1.0)[:, None] * way
    # A step of fixed length turns toward the end of the ball by and by.
    torch.testing.assert_close(moved, expected, rtol=0, atol=1e-5 if norm == "linf" else 1e-3)


@by_norm
@pytest.mark.parametrize("steps", [1, 7])
def test_it_stays_in_the_ball_and_in_the_bounds(norm, steps):
    x, target = sample()
    x = x.clamp(-1, 1)
    moved = projected_gradient_attack(
        linear,
        x,
        target,
        PairwiseAUC(),
        radius=0.5,
        step=0.4,
        steps=steps,
        norm=norm,
        bounds=(-1.0, 1.0),
    )
    assert moved.min() >= -1
    assert moved.max() <= 1
    delta = moved - x
    length = delta.abs().amax(1) if norm == "linf" else delta.norm(dim=1)
    assert length.max() <= 0.5 * (1 + 1e-6)
    assert length.min() > 0
    assert not moved.requires_grad


def test_at_the_bounds_it_can_turn_back():
    x, target = torch.tensor([[0.95], [0.0]]), torch.tensor([True, False])
    # The positive starts at the bound, above where it is pushed to.
    moved = projected_gradient_attack(
        lambda t: t[:, 0] * 1.0,
        x,
        target,
        PairwiseAUC(),
        radius=0.3,
        step=0.02,
        steps=40,
        bounds=(0.0, 0.95),
    )
    torch.testing.assert_close(moved, torch.tensor([[0.65], [0.3]]))


@by_norm
def test_the_same_generator_gives_the_same_attack(norm):
    x, target = sample()

    def attack(seed):
        generator = torch.Generator().manual_seed(seed)
        return projected_gradient_attack(
            network().eval(),
            x,
            target,
            PairwiseAUC(),
            radius=0.3,
            step=0.1,
            steps=2,
            norm=norm,
            generator=generator,
        )

    state = torch.get_rng_state()
    first = attack(1)
    assert torch.equal(first, attack(1))
    assert not torch.equal(first, attack(2))
    torch.set_rng_state(state)


@pytest.mark.parametrize("training_mode", [True, False])
def test_nothing_learns_from_an_attack(training_mode):
    x, target = sample()
    model, loss = network(), SOPRC(0.3)
    model[3].eval()  # one part frozen on purpose: it stays so
    loss(model(x), target).backward()
    saved = copy.deepcopy([model.state_dict(), loss.state_dict()])
    gradients = [p.grad.clone() for p in model.parameters()]
    projected_gradient_attack(
        model, x, target, loss, radius=0.3, step=0.1, training_mode=training_mode
    )
    for before, part in zip(saved, (model, loss), strict=True):
        for name, value in part.state_dict().items():
            assert torch.equal(value, before[name])
    assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), gradients, strict=True))
    assert [m.training for m in model] == [True, True, True, False, True]
    assert model.training
    assert loss.training


def test_modes_come_back_after_an_error():
    x, target = sample()
    model, loss = network(), PairwiseAUC()
    with pytest.raises(ValueError, match="target"):
        projected_gradient_attack(model, x, target[:5], loss, radius=0.3, step=0.1)
    assert model.training
    assert loss.training


def test_the_mode_of_the_model_is_the_one_asked_for():
    x, target = sample()
    seen = []

    class Spy(nn.Module):
        def forward(self, t):
            seen.append(self.training)
            return linear(t)

    for training_mode in (False, True):
        options = dict(radius=0.3, step=0.1, steps=1, training_mode=training_mode)
        projected_gradient_attack(Spy(), x, target, PairwiseAUC(), **options)
    assert seen == [False, True]


def test_it_works_where_gradients_are_off():
    x, target = sample()
    with torch.no_grad():
        moved = projected_gradient_attack(linear, x, target, PairwiseAUC(), radius=0.3, step=0.1)
        assert not torch.is_grad_enabled()
    assert auroc(linear(moved), target) < auroc(linear(x), target) - 0.1


def test_images_are_items_too():
    x, target = torch.rand(6, 2, 3, 3), torch.arange(6) < 2
    model = nn.Sequential(nn.Flatten(), nn.Linear(18, 1), nn.Flatten(0))
    moved = projected_gradient_attack(
        model, x, target, PairwiseAUC(), radius=0.5, step=0.2, norm="l2", bounds=(0.0, 1.0)
    )
    assert (moved - x).flatten(1).norm(dim=1).max() <= 0.5 * (1 + 1e-6)
    assert PairwiseAUC()(model(moved), target) > PairwiseAUC()(model(x), target)


def test_the_adversarial_loss_is_that_of_the_attacked_batch():
    x, target = sample()
    model, loss = network().eval(), PairwiseAUC()
    options = dict(radius=0.3, step=0.1, random_start=False)
    moved = projected_gradient_attack(model, x, target, loss, **options)
    value = adversarial_loss(model, x, target, loss, **options)
    torch.testing.assert_close(value, loss(model(moved), target))
    assert value > loss(model(x), target)
    value.backward()
    assert all(p.grad is not None for p in model.parameters())


def test_what_the_objective_takes_beside_reaches_it_once():
    x, target = sample()
    model, item_ids = network(), torch.arange(50)
    loss, plain = SOAP(0.3, 50, score_scale=1.0), SOAP(0.3, 50, score_scale=1.0)
    before = copy.deepcopy(model)
    options = dict(radius=0.3, step=0.1, random_start=False)
    adversarial_loss(model, x, target, loss, call_arguments={"item_ids": item_ids}, **options)
    moved = projected_gradient_attack(
        before,
        x,
        target,
        SOAP(0.3, 50, score_scale=1.0),
        call_arguments={"item_ids": item_ids},
        **options,
    )
    plain(before(moved), target, item_ids=item_ids)
    for name, value in loss.state_dict().items():
        torch.testing.assert_close(value, plain.state_dict()[name])
    torch.testing.assert_close(model[1].running_mean, before[1].running_mean)


def test_each_item_is_attacked_for_itself_by_the_saddle_form():
    """With a, b and α held, an item's attack does not depend on who else is in the batch."""
    x, target = sample()
    loss = MinMaxAUC()
    with torch.no_grad():
        loss.alpha.fill_(0.8)
    options = dict(radius=0.3, step=0.05, random_start=False)
    together = projected_gradient_attack(linear, x, target, loss, **options)
    few = [*target.nonzero().flatten()[:2].tolist(), *(~target).nonzero().flatten()[:2].tolist()]
    alone = projected_gradient_attack(linear, x[few], target[few], loss, **options)
    torch.testing.assert_close(together[few], alone)


@pytest.mark.parametrize("make", [PairwiseAUC, MinMaxAUC])
def test_training_under_attack_makes_the_ranking_robust(make):
    """One noisy strong feature, twenty weak ones that an attack of their size turns around."""
    generator = torch.Generator().manual_seed(0)
    target = torch.rand(600, generator=generator) < 0.3
    sign = torch.where(target, 1.0, -1.0)[:, None]
    means = torch.tensor([1.0] + 20 * [0.15])
    spread = torch.tensor([1.0] + 20 * [0.3])
    x = sign * means + spread * torch.randn(600, 21, generator=generator)
    ball = dict(radius=0.3, step=0.1, steps=5, generator=generator)

    def attacked_auc(robust):
        model = nn.Sequential(nn.Linear(21, 1), nn.Flatten(0))
        nn.init.zeros_(model[0].weight)
        loss = make()
        optimizer = torch.optim.Adam([*model.parameters(), *loss.parameters()], lr=0.02)
        for _ in range(150):
            optimizer.zero_grad()
            if robust:
                adversarial_loss(model, x[:400], target[:400], loss, **ball).backward()
            else:
                loss(model(x[:400]), target[:400]).backward()
            optimizer.step()
        moved = projected_gradient_attack(
            model, x[400:], target[400:], PairwiseAUC(Logistic(1.0)), **ball
        )
        return float(auroc(model(moved), target[400:]))

    assert attacked_auc(robust=True) > attacked_auc(robust=False) + 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(radius=-1.0), "radius must be a finite number > 0, got -1.0"),
        (dict(step=0.0), "step must be a finite number > 0, got 0.0"),
        (dict(steps=0), "steps must be a whole number >= 1, got 0"),
        (dict(norm="l1"), "norm must be one of 'linf', 'l2', got 'l1'"),
        (dict(bounds=(0.0, 1.0)), "bounds must hold all of x"),
    ],
)
def test_bad_options_are_named(options, message):
    x, target = sample()
    with pytest.raises(ValueError, match=message):
        projected_gradient_attack(
            linear, x, target, PairwiseAUC(), **({"radius": 0.3, "step": 0.1} | options)
        )
