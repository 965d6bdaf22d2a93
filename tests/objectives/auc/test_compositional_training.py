"""The objective after a step of another loss: its value and its whole gradient."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rankwise.baselines import CrossEntropy
from rankwise.metrics import auroc
from rankwise.objectives import CompositionalAUC, MinMaxAUC, PairwiseAUC
from rankwise.objectives.auc import compositional_training_loss

X = torch.randn(24, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
Y = torch.arange(24) % 3 == 0


def network(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1), nn.Flatten(0)).double()


def after_steps(model: nn.Module, step: float, steps: int) -> nn.Module:
    """The model after plain gradient descent on cross-entropy."""
    optimizer = torch.optim.SGD(model.parameters(), lr=step)
    for _ in range(steps):
        optimizer.zero_grad()
        CrossEntropy()(model(X), Y).backward()
        optimizer.step()
    model.zero_grad()
    return model


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("second_order", [True, False])
def test_the_value_is_that_of_the_model_after_the_steps(steps, second_order):
    value = compositional_training_loss(
        network(), X, Y, PairwiseAUC(), CrossEntropy(), step=0.7, steps=steps,
        second_order=second_order,
    )  # fmt: skip
    torch.testing.assert_close(value, PairwiseAUC()(after_steps(network(), 0.7, steps)(X), Y))


@pytest.mark.parametrize("steps", [1, 2])
def test_the_gradient_is_that_of_finite_differences(steps):
    model = network()
    weights = list(model.parameters())

    def value() -> torch.Tensor:
        return compositional_training_loss(
            model, X, Y, CompositionalAUC(), CrossEntropy(), step=0.7, steps=steps
        )

    slopes = torch.autograd.grad(value(), weights)
    for p, slope in zip(weights, slopes, strict=True):
        for place in range(0, p.numel(), 3):
            ends = []
            for side in (1e-5, -1e-5):
                with torch.no_grad():
                    p.view(-1)[place] += side
                    ends.append(value().item())
                    p.view(-1)[place] -= side
            assert slope.view(-1)[place].item() == pytest.approx(
                (ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-8
            )


def test_the_first_order_gradient_is_that_of_the_moved_model():
    model, moved = network(), after_steps(network(), 0.7, 1)
    compositional_training_loss(
        model, X, Y, CompositionalAUC(), CrossEntropy(), step=0.7, second_order=False
    ).backward()
    CompositionalAUC()(moved(X), Y).backward()
    for one, other in zip(model.parameters(), moved.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_statistics_of_a_normalization_are_counted_once():
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1), nn.Flatten(0)).double()
    compositional_training_loss(model, X, Y, PairwiseAUC(), CrossEntropy(), step=0.1, steps=2)
    assert model[0].num_batches_tracked.item() == 1
    torch.testing.assert_close(model[0].running_mean, 0.1 * X.mean(0))


def test_any_optimizer_trains_with_it_and_frozen_parameters_stay():
    model, loss = network(1), MinMaxAUC()
    model[0].weight.requires_grad_(False)
    before = model[0].weight.clone()
    y = X[:, 0] > 0.5
    optimizer = torch.optim.Adam([*model.parameters(), *loss.parameters()], lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        compositional_training_loss(model, X, y, loss, CrossEntropy(), step=0.1).backward()
        optimizer.step()
    assert torch.equal(model[0].weight, before)
    assert auroc(model(X).detach(), y) > auroc(network(1)(X).detach(), y) + 0.1


def test_further_arguments_go_to_the_objective():
    weight = torch.linspace(0.5, 2, 24, dtype=torch.float64)
    value = compositional_training_loss(
        network(), X, Y, PairwiseAUC(), CrossEntropy(), step=0.7, call_arguments={"weight": weight}
    )
    expected = PairwiseAUC()(after_steps(network(), 0.7, 1)(X), Y, weight=weight)
    torch.testing.assert_close(value, expected)


def test_wrong_arguments():
    for options in ({"step": 0.0}, {"step": 0.1, "steps": 0}):
        with pytest.raises(ValueError, match="must be"):
            compositional_training_loss(network(), X, Y, PairwiseAUC(), CrossEntropy(), **options)
    with pytest.raises(ValueError, match="parameters that require a gradient"):
        compositional_training_loss(
            network().requires_grad_(False), X, Y, PairwiseAUC(), CrossEntropy(), step=0.1
        )


def test_libaucs_alternation_is_two_losses_in_turn():
    """k batches of cross-entropy, then k of AUCM, as CompositionalAUCLoss counts them."""
    k, ours, theirs = 2, [], []
    cross_entropy, auc = CrossEntropy(), MinMaxAUC(prior=Y.double().mean().item())
    with torch.no_grad():
        auc.a.fill_(0.6), auc.b.fill_(0.3), auc.alpha.fill_(0.2)
    logits = network()(X).detach()
    p, probability = Y.double().mean(), logits.sigmoid()
    for step in range(8):
        inner = step % (2 * k) < k
        ours.append((cross_entropy(logits, Y) if inner else auc(probability, Y)).item())
        if inner:
            theirs.append(nn.functional.binary_cross_entropy(probability, Y.double()).item())
            continue
        a, b, alpha, one, zero = 0.6, 0.3, 0.2, Y.double(), (~Y).double()
        value = (1 - p) * ((probability - a) ** 2 * one).mean()
        value += p * ((probability - b) ** 2 * zero).mean()
        gap = (p * probability * zero - (1 - p) * probability * one).mean()
        value += 2 * alpha * (p * (1 - p) + gap) - p * (1 - p) * alpha**2
        theirs.append(value.item())
    assert ours == pytest.approx(theirs, rel=1e-5)
