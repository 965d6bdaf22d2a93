"""What the theorems assume, measured: the PL constant, L_u, and the bias of a batch's gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from reproductions.convergence.plan import Constants, Estimate, Plan
from reproductions.convergence.problem import LOSSES, Problem, loss_of, score
from reproductions.convergence.training import memory_of

RADII = (0.3, 1.0, 1.5)  # of the points around the stationary one that μ is taken of
POINTS = 8  # at each radius


def constants(plan: Plan, seed: int, ends: dict[str, Tensor]) -> list[Constants]:
    """Measure every data set; ``ends`` are the stationary points of both losses."""
    problem = Problem(plan, seed, 1)
    generator = torch.Generator().manual_seed(seed)
    end, (best, _) = ends["SOPRC"], problem.field("SOPRC", ends["SOPRC"])
    ratios, lower = [], []
    for radius in RADII:
        for _ in range(POINTS):
            way = torch.randn(end.shape, generator=generator, dtype=torch.float64)
            risk, gradient = problem.field("SOPRC", end + radius * way / way.norm(dim=1)[:, None])
            excess = risk - best
            lower.append(excess < 0)
            ratio = gradient.square().sum(1) / excess.clamp(min=1e-12)
            ratios.append(torch.where(excess > 0, ratio, torch.inf))
    risk_start, gradient_start = problem.field("StableAP", problem.start)
    columns = (
        torch.stack(ratios).amin(0),
        torch.stack(lower).double().mean(0),
        _lipschitz_u(problem),
        torch.stack([problem.field(n, ends[n])[1].square().sum(1) for n in LOSSES]).amax(0),
        gradient_start.square().sum(1),
        risk_start,
        problem.field("StableAP", ends["StableAP"])[0],
    )
    by_repeat = zip(*([float(each) for each in column] for column in columns), strict=True)
    return [Constants(repeat, *values) for repeat, values in enumerate(by_repeat)]


def gradient_bias(
    problem: Problem, name: str, weights: Tensor, batch: int, seed: int
) -> list[Estimate]:
    """Return ‖E ∇f(z) − ∇F‖² at fixed weights with the true μ⁺ or v, without the error of the mean.

    The mean of m gradients has the squared error bias² + variance/m; the second part is taken off.
    """
    generator, draws = torch.Generator().manual_seed(seed), problem.plan.draws
    true, (_, whole) = problem.summary(name, weights), problem.field(name, weights)
    loss = loss_of(name, problem.plan, problem.rows, rate=0.0).double()
    memory = memory_of(loss)
    memory.value.copy_(true)
    memory.seen.fill_(True)
    found = []
    for _ in range(draws):
        examples, target = problem.batch(batch, generator)
        leaf = weights.detach().clone().requires_grad_()
        risk = loss(score(examples, leaf), target, list_ids=torch.arange(problem.rows))
        (gradient,) = torch.autograd.grad(risk.sum(), leaf)
        found.append(gradient)
    # The chains of a data set have the same weights: their gradients are further draws.
    chains, repeats = problem.chains, problem.plan.repeats
    drawn = torch.stack(found, 1).view(repeats, chains * draws, -1)
    variance = drawn.var(1).sum(-1)
    apart = (drawn.mean(1) - whole.view(repeats, chains, -1)[:, 0]).square().sum(-1)
    bias = apart - variance / (chains * draws)
    pairs = (
        (f"bias of the gradient, {name}", bias),
        (f"variance of the gradient, {name}", variance),
    )
    return [
        Estimate(claim, float(batch), repeat, float(value))
        for claim, values in pairs
        for repeat, value in enumerate(values)
    ]


def _lipschitz_u(problem: Problem) -> Tensor:
    """Return the largest ‖∇e(θ; u) − ∇e(θ; u')‖/|u − u'| of a few u around μ⁺ at the start."""
    weights, true = problem.start, problem.summary("StableAP", problem.start)
    loss = loss_of("StableAP", problem.plan, problem.rows, rate=0.0).double()
    memory = memory_of(loss)
    memory.seen.fill_(True)
    examples = torch.cat([problem.positives, problem.negatives], 1)
    target = torch.arange(examples.shape[1]).expand(problem.rows, -1) < problem.positives.shape[1]
    step, gradients = 0.25, []
    for shift in range(-4, 5):
        memory.value.copy_(true + step * shift)
        leaf = weights.detach().clone().requires_grad_()
        risk = loss(score(examples, leaf), target, list_ids=torch.arange(problem.rows))
        gradients.append(torch.autograd.grad(risk.sum(), leaf)[0])
    changes: Tensor = torch.stack(gradients).diff(dim=0).norm(dim=-1)
    return (changes / step).amax(0)
