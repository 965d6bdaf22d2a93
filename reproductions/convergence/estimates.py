"""Averages on a fixed model: the mean and variance of v, of μ̂, and the error of the estimate."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.memory import MovingAverage, interpolate_quantiles
from reproductions.convergence.plan import BATCH, Estimate, Plan
from reproductions.convergence.problem import Problem, loss_of, score
from reproductions.convergence.training import memory_of

DECAY = 0.1  # β of the mean of v
DECAY_STEPS = (1, 2, 4, 8, 16)
START = 3.0  # how far every entry of v₁ is above its limit
SETTLED = 0.05  # β of v where the estimate is measured
LAWS = {"v": "variance of v", "mu": "variance of μ̂"}
MEAN_LAW, ERROR_LAW, BIAS_LAW = "mean of v", "error of the estimate", "bias of the estimate"


def estimates(plan: Plan, seed: int, weights: Tensor) -> list[Estimate]:
    """Measure all of them at these weights, one row for each data set."""
    problem = Problem(plan, seed, plan.draws)
    fixed = weights.repeat_interleave(plan.draws, 0)
    scores = score(problem.positives, fixed)
    found = []
    for kind, law in LAWS.items():
        for rate in plan.ema_rates:
            ratio = _settled_variance(problem, scores, kind, rate, seed)
            place = rate / (2 - rate)
            found += [Estimate(law, place, r, float(value)) for r, value in enumerate(ratio)]
    found += _decay(problem, scores, seed)
    for batch in plan.batches:
        found += _errors(problem, fixed, batch, seed)
    return found


def summarize(kind: str, scores: Tensor, points: int) -> Tensor:
    """Return φ of the scores of every row, or their mean."""
    if kind == "mu":
        return scores.mean(1, keepdim=True)
    return interpolate_quantiles(scores, None, points)


def _summaries(problem: Problem, scores: Tensor, kind: str, generator: torch.Generator) -> Tensor:
    where = torch.randint(scores.shape[1], (problem.rows, BATCH), generator=generator)
    return summarize(kind, scores.gather(1, where), problem.plan.points)


def _settled_variance(
    problem: Problem, scores: Tensor, kind: str, rate: float, seed: int
) -> Tensor:
    """Return Var[average]/Var[estimate] by data set, both summed over the entries."""
    generator = torch.Generator().manual_seed(seed)
    width = problem.plan.points if kind == "v" else 1
    memory = MovingAverage(problem.rows, width, ema_rate=rate).double()
    ids = torch.arange(problem.rows)
    # A fixed v₁, as in the proposition: the true one.
    memory.update(ids, summarize(kind, scores, problem.plan.points))
    spread = []
    for _ in range(math.ceil(2.5 / rate)):  # so that (1−β)^(2T) < 1 %
        summary = _summaries(problem, scores, kind, generator)
        memory.update(ids, summary)
        spread.append(_variance(problem, summary))
    return _variance(problem, memory.value) / torch.stack(spread).mean(0)


def _variance(problem: Problem, values: Tensor) -> Tensor:
    return values.view(problem.plan.repeats, problem.chains, -1).var(1).sum(-1)


def _decay(problem: Problem, scores: Tensor, seed: int) -> list[Estimate]:
    """Return (E[v] − E[φ])·(v₁ − E[φ])/‖v₁ − E[φ]‖² after T updates, which is (1−β)^T."""
    generator = torch.Generator().manual_seed(seed)
    plan = problem.plan

    def by_set(values: Tensor) -> Tensor:
        return values.view(plan.repeats, problem.chains, -1).mean(1)

    drawn = [_summaries(problem, scores, "v", generator) for _ in range(max(DECAY_STEPS))]
    limit = by_set(torch.stack(drawn).mean(0))
    memory = MovingAverage(problem.rows, plan.points, ema_rate=DECAY).double()
    ids = torch.arange(problem.rows)
    memory.update(ids, (limit + START).repeat_interleave(problem.chains, 0))
    found = []
    for step, summary in enumerate(drawn, 1):
        memory.update(ids, summary)
        if step in DECAY_STEPS:
            left = (by_set(memory.value) - limit).mean(1) / START
            found += [Estimate(MEAN_LAW, step, r, float(value)) for r, value in enumerate(left)]
    return found


def _errors(problem: Problem, weights: Tensor, batch: int, seed: int) -> list[Estimate]:
    """Return root mean square error and |bias| of SOPRC's estimate, with v settled."""
    generator = torch.Generator().manual_seed(seed)
    loss = loss_of("SOPRC", problem.plan, problem.rows, rate=SETTLED).double()
    # A long average starts near its limit: the first v is that of all positives.
    memory = memory_of(loss)
    memory.value.copy_(problem.summary("SOPRC", weights))
    memory.seen.fill_(True)
    true = Problem(problem.plan, problem.seed, 1).field("SOPRC", weights[:: problem.chains])[0]
    looks = []
    settle = math.ceil(2 / SETTLED)
    for step in range(settle + 10):
        examples, target = problem.batch(batch, generator)
        with torch.no_grad():
            value = loss(score(examples, weights), target, list_ids=torch.arange(problem.rows))
            summary = summarize("v", score(examples[:, :batch], weights), problem.plan.points)
            memory.value.lerp_(summary, SETTLED)
        if step >= settle:
            looks.append(value)
    drawn = torch.stack(looks, 1).view(problem.plan.repeats, -1)
    apart = drawn - true[:, None]
    laws = {ERROR_LAW: apart.square().mean(1).sqrt(), BIAS_LAW: apart.mean(1).abs()}
    return [
        Estimate(law, float(batch), r, float(value))
        for law, values in laws.items()
        for r, value in enumerate(values)
    ]
