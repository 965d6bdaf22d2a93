"""Trainings of all rows at once, with what is known on all data at looks along the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rankwise.memory import MovingAverage
from rankwise.objectives import SOPRC, Objective, StableAP
from rankwise.training import MomentumSGD
from reproductions.convergence.problem import Problem, loss_of, score


@dataclass(frozen=True)
class Training:
    """One way to train; ``rate`` is η_t by the step t = 1, 2, …"""

    loss: str
    steps: int
    batch: int  # n⁺
    rate: Callable[[int], float]
    ema_rate: float  # λ of μ̂, β of v
    momentum: float = 0.0
    s: float = 1.0
    previous: bool = True  # whether μ̂ sees the scores under the previous parameters
    printed: bool = False  # the rule as Algorithm 1 prints it, in place of Lemma 14's


@dataclass(frozen=True)
class Way:
    """What was seen, by look and row, (looks, rows); looks are before the step of that number."""

    looks: list[int]
    gradient: Tensor  # ‖∇‖² on all data
    risk: Tensor
    memory: Tensor  # mean squared error of the entries, after the batch of that step; not at 1st
    moved: Tensor  # (rows,), mean over all steps of ‖θ_{k+1} − θ_k‖²
    noise: Tensor  # (rows,), largest ‖g_k‖² averaged over rows
    spread: Tensor  # (rows,), largest variance of the scores of the positives


class PrintedRule:
    """γ' = θ − αg, γˢ' = θ − sαg, θ' = γ' + β(γˢ' − γ): Algorithm 1 with its γ, not γˢ.

    For s = 0 and γ₁ = θ₁, θ' − γ' = β(θ − γ) stays 0: no momentum at all.
    """

    def __init__(self, weights: nn.Parameter, *, momentum: float, s: float) -> None:
        self.weights, self.momentum, self.s = weights, momentum, s
        self.rate = 0.0
        self.before = weights.detach().clone()

    @torch.no_grad()
    def step(self) -> None:
        """Take one step along the gradient."""
        assert self.weights.grad is not None
        down = self.rate * self.weights.grad
        now = self.weights - down
        self.weights.add_(-down + self.momentum * (self.weights - self.s * down - self.before))
        self.before = now


def train(problem: Problem, training: Training, looks: list[int], seed: int) -> Way:
    """Train every row from its start; the same seed draws the same batches."""
    generator = torch.Generator().manual_seed(seed)
    weights = nn.Parameter(problem.start.clone())
    loss = loss_of(training.loss, problem.plan, problem.rows, rate=training.ema_rate).double()
    ruled = PrintedRule(weights, momentum=training.momentum, s=training.s)
    optimizer = MomentumSGD([weights], 0.0, momentum=training.momentum, s=training.s)
    ids, seen = torch.arange(problem.rows), set(looks)
    found: dict[str, list[Tensor]] = {"gradient": [], "risk": [], "memory": []}
    spread = torch.zeros(problem.rows, dtype=torch.float64)
    moved, noise = torch.zeros(problem.rows, dtype=torch.float64), torch.zeros(())
    last = max(looks)
    before = weights.detach().clone()
    for k in range(1, last + 1):
        examples, target = problem.batch(training.batch, generator)
        scores = score(examples, weights)
        given = {}
        if training.loss == "StableAP" and training.previous:
            given["previous_scores"] = score(examples, before)
        weights.grad = None
        loss(scores, target, list_ids=ids, **given).sum().backward()
        if k in seen:
            risk, gradient = problem.field(training.loss, weights)
            true = problem.summary(training.loss, weights.detach())
            scored = score(problem.positives, weights.detach())
            spread = torch.maximum(spread, scored.var(1, correction=0))
            found["gradient"].append(gradient.square().sum(1))
            found["risk"].append(risk)
            found["memory"].append((memory_of(loss).value - true).square().mean(1))
        if k == last and k > training.steps:
            break  # a look at the end needs a batch for the memory, but no step
        before = weights.detach().clone()
        assert weights.grad is not None
        noise = torch.maximum(noise, weights.grad.square().sum(1).mean())
        if training.printed:
            ruled.rate = training.rate(k)
            ruled.step()
        else:
            optimizer.param_groups[0]["lr"] = training.rate(k)
            optimizer.step()
        moved += (weights.detach() - before).square().sum(1)
    stacked = {name: torch.stack(each) for name, each in found.items()}
    step, largest = moved / training.steps, noise.expand(problem.rows)
    return Way(looks, **stacked, moved=step, noise=largest, spread=spread)


def memory_of(loss: Objective) -> MovingAverage:
    """Return the memory of μ̂ or v."""
    memory = loss.mean if isinstance(loss, StableAP) else None
    if isinstance(loss, SOPRC):
        memory = loss.vector
    assert memory is not None
    return memory
