"""Trainings against rules worked by hand and against autograd on all data."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from rankwise.training import MomentumSGD
from reproductions.convergence.constants import gradient_bias
from reproductions.convergence.estimates import LAWS, MEAN_LAW, estimates
from reproductions.convergence.measure import RULES, training_of
from reproductions.convergence.plan import PRINTED, PROOF, REDUCED, Plan
from reproductions.convergence.problem import LOSSES, Problem, loss_of, score, targets
from reproductions.convergence.training import PrintedRule, Training, memory_of, train

PLAN = Plan(n_positives=12, width=3, points=12, repeats=2, chains=2, draws=60, ema_rates=(0.1, 0.5))


@pytest.mark.parametrize("name", LOSSES)
def test_the_field_is_that_of_one_batch_of_all_data(name):
    problem = Problem(PLAN, 0, 2)
    risk, gradient = problem.field(name, problem.start)
    row = 3
    weights = problem.start[row].clone().requires_grad_()
    examples = torch.cat([problem.positives[row], problem.negatives[row]])
    # A first batch sets the memory to its own mean or quantiles.
    loss = loss_of(name, PLAN, 1, rate=0.1).double()
    value = loss(examples @ weights, targets(1, PLAN.n_positives)[0], list_ids=torch.tensor(0))
    value.backward()
    assert torch.allclose(risk[row], value.detach())
    assert torch.allclose(gradient[row], weights.grad)
    true = problem.summary(name, problem.start)[row]
    assert torch.allclose(memory_of(loss).value[0], true)


def test_chains_of_a_data_set_share_it_and_data_sets_differ():
    problem = Problem(PLAN, 0, 2)
    assert torch.equal(problem.positives[0], problem.positives[1])
    assert not torch.equal(problem.positives[1], problem.positives[2])
    assert problem.by_repeat(torch.tensor([1.0, 3.0, 5.0, 9.0])) == [2.0, 7.0]


def test_the_stationary_point_is_stationary():
    problem = Problem(PLAN, 0, 1)
    before, after = (
        problem.field("SOPRC", weights)[1].square().sum(1)
        for weights in (problem.start, problem.stationary("SOPRC", most=300))
    )
    assert (after < 1e-3 * before).all()


def quadratic(step, weights, n):
    """Descend on θ²/2 for n steps."""
    for _ in range(n):
        weights.grad = weights.detach().clone()
        step()
    return weights.detach()


def test_the_printed_rule_is_plain_descent_for_heavy_ball_and_ours_for_nesterov():
    start = torch.tensor([1.0, -2.0], dtype=torch.float64)
    found = {}
    for s in (0.0, 1.0):
        weights = nn.Parameter(start.clone())
        rule = PrintedRule(weights, momentum=0.9, s=s)
        rule.rate = 0.1
        found[s] = quadratic(rule.step, weights, 5)
    assert torch.allclose(found[0.0], start * 0.9**5)  # θ ← θ − 0.1θ, whatever β
    weights = nn.Parameter(start.clone())
    nesterov = MomentumSGD([weights], 0.1, momentum=0.9, s=1.0)
    assert torch.allclose(found[1.0], quadratic(nesterov.step, weights, 5))


def test_one_step_of_a_training_by_hand():
    problem = Problem(PLAN, 0, 2)
    training = Training("StableAP", 1, 4, lambda t: 0.5, 0.1)
    way = train(problem, training, [1, 2], seed=7)
    examples, target = problem.batch(4, torch.Generator().manual_seed(7))
    weights = problem.start.clone().requires_grad_()
    loss = loss_of("StableAP", PLAN, problem.rows, rate=0.1).double()
    loss(score(examples, weights), target, list_ids=torch.arange(problem.rows)).sum().backward()
    after = problem.start - 0.5 * weights.grad
    assert torch.allclose(way.moved, (0.5 * weights.grad).square().sum(1))
    assert torch.allclose(way.risk[0], problem.field("StableAP", problem.start)[0])
    assert torch.allclose(way.risk[1], problem.field("StableAP", after)[0])
    mean = score(examples[:, :4], problem.start).mean(1)
    true = score(problem.positives, problem.start).mean(1)
    assert torch.allclose(way.memory[0], (mean - true).square())


def test_bias_and_variance_of_the_gradient_fall_with_the_batch():
    problem = Problem(replace(PLAN, n_positives=40), 0, 2)
    few, many = (gradient_bias(problem, "StableAP", problem.start, n, 0) for n in (2, 64))
    for small, large in zip(few, many, strict=True):
        assert small.claim == large.claim
        assert abs(large.value) < abs(small.value)


def test_the_settings_of_the_theorems():
    theorem_4 = training_of(Plan(), ("T", REDUCED, 400.0), mu=0.5, lipschitz_u=0.01)
    assert theorem_4.rate(3) == pytest.approx(3 / 20)
    assert theorem_4.ema_rate == theorem_4.momentum == pytest.approx(1 / 20)
    assert training_of(Plan(), ("T", REDUCED, 4.0), 0.5, 0.01).momentum == 1 - 1 / math.sqrt(2)
    assert training_of(Plan(), ("T", REDUCED, 4.0), 0.5, 12.0).momentum == pytest.approx(1 / 6)
    printed, proof = (
        training_of(Plan(), ("T, SOPRC", variant, 0.0), mu=0.5, lipschitz_u=1.0)
        for variant in (PRINTED, PROOF)
    )
    assert printed.rate(1) == pytest.approx(3 / (0.5 * 4))
    assert proof.rate(1) == 2 * printed.rate(1)
    assert printed.ema_rate == 1 / printed.batch
    # 1 − μη/2 = t²/(t+1)² is what the proof needs.
    assert 1 - 0.5 * proof.rate(4) / 2 == pytest.approx(16 / 25)
    rates = [training_of(Plan(), ("β", "s = 1", b), 0.5, 0.01) for b in (0.0, 0.9)]
    assert rates[1].rate(1) / (1 - 0.9) == pytest.approx(rates[0].rate(1))
    rules = [training_of(Plan(), ("s", rule, 0.0), 0.5, 0.01).printed for rule in RULES]
    assert rules == [False, True]


def test_a_fixed_model_has_the_mean_and_variance_of_proposition_1():
    problem = Problem(PLAN, 0, 1)
    found = estimates(replace(PLAN, draws=400, batches=(4,)), 0, problem.start)
    for law in LAWS.values():
        for each in (e for e in found if e.claim == law):
            assert each.value == pytest.approx(each.x, rel=0.25)
    for each in (e for e in found if e.claim == MEAN_LAW):
        assert each.value == pytest.approx(0.9**each.x, abs=0.02)
