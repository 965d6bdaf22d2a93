"""Data sets of two Gaussian classes, a linear model, and its risk and gradient on all data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from rankwise.memory import interpolate_quantiles
from rankwise.objectives import SOPRC, Objective, StableAP
from reproductions.convergence.plan import RATIO, Plan

LOSSES = ("StableAP", "SOPRC")
PRIOR = 1 / (1 + RATIO)
SPAN = 8.0  # largest difference of two scores, which sets B of StableAP


def loss_of(name: str, plan: Plan, rows: int, *, rate: float, whole: bool = False) -> Objective:
    """Return a loss with one memory for each row; ``whole`` takes it from the scores themselves."""
    if name == "StableAP":
        return StableAP(
            PRIOR,
            rows,
            a=1.0,
            t=2.0,
            tau=1.0,
            width=SPAN,
            ema_rate=rate,
            dynamic=not whole,
            squash=False,
            gain="fixed",
            score_scale=1.0,
            reduction="none",
        )
    return SOPRC(
        PRIOR,
        rows,
        points=plan.points,
        ema_rate=1.0 if whole else rate,
        tau_fpr=1.0,
        tau_tpr=0.1,
        gain="fixed",
        score_scale=1.0,
        reduction="none",
    )


@dataclass(frozen=True)
class Problem:
    """One data set for each repeat; rows are (repeat, chain), the chains of a repeat share it."""

    plan: Plan
    seed: int
    chains: int

    @property
    def rows(self) -> int:
        """Number of trainings at once."""
        return self.plan.repeats * self.chains

    @cached_property
    def _drawn(self) -> tuple[Tensor, Tensor, Tensor]:
        plan, generator = self.plan, torch.Generator().manual_seed(self.seed)
        size = (plan.repeats, plan.n_positives * (1 + RATIO), plan.width)
        examples = torch.randn(size, generator=generator, dtype=torch.float64)
        examples[:, : plan.n_positives, 0] += plan.shift
        start = torch.randn(plan.repeats, plan.width, generator=generator, dtype=torch.float64)
        start = start / start.norm(dim=1, keepdim=True)
        return (
            examples[:, : plan.n_positives].repeat_interleave(self.chains, 0),
            examples[:, plan.n_positives :].repeat_interleave(self.chains, 0),
            start.repeat_interleave(self.chains, 0),
        )

    @property
    def positives(self) -> Tensor:
        """Examples (rows, N⁺, width)."""
        return self._drawn[0]

    @property
    def negatives(self) -> Tensor:
        """Examples (rows, N⁻, width)."""
        return self._drawn[1]

    @property
    def start(self) -> Tensor:
        """Weights (rows, width) that training starts from, of norm 1."""
        return self._drawn[2]

    def batch(self, n_positives: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw a batch for every row, with replacement: examples and targets, positives first."""
        drawn = []
        for examples, n in ((self.positives, n_positives), (self.negatives, RATIO * n_positives)):
            where = torch.randint(examples.shape[1], (self.rows, n), generator=generator)
            drawn.append(examples.gather(1, where.unsqueeze(-1).expand(-1, -1, self.plan.width)))
        return torch.cat(drawn, 1), targets(self.rows, n_positives)

    def field(self, name: str, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return risk (rows,) and gradient (rows, width) on all data, with the true μ⁺ or v."""
        loss = loss_of(name, self.plan, self.rows, rate=1.0, whole=True)
        leaf = weights.detach().clone().requires_grad_()
        scores = score(torch.cat([self.positives, self.negatives], 1), leaf)
        risk = loss(
            scores, targets(self.rows, self.positives.shape[1]), list_ids=torch.arange(self.rows)
        )
        (gradient,) = torch.autograd.grad(risk.sum(), leaf)
        return risk.detach(), gradient

    def summary(self, name: str, weights: Tensor) -> Tensor:
        """Return the true μ⁺, (rows, 1), or the true v, (rows, M)."""
        scores = score(self.positives, weights)
        if name == "StableAP":
            return scores.mean(1, keepdim=True)
        return interpolate_quantiles(scores, None, self.plan.points)

    def stationary(self, name: str, most: int = 1000) -> Tensor:
        """Return the weights at which descent on all data ends, from the true direction."""
        weights = torch.zeros_like(self.start)
        weights[:, 0] = 1.0
        rate = 2.0 if name == "StableAP" else 1.0
        for _ in range(most):
            gradient = self.field(name, weights)[1]
            if float(gradient.square().sum(1).max()) < 1e-18:
                break
            weights = weights - rate * gradient
        return weights

    def by_repeat(self, values: Tensor) -> list[float]:
        """Average over the chains of each repeat."""
        return [float(each) for each in values.view(self.plan.repeats, self.chains).mean(1)]


def score(examples: Tensor, weights: Tensor) -> Tensor:
    """Scores of a linear model, one row of weights for each row of examples."""
    return (examples @ weights.unsqueeze(-1)).squeeze(-1)


def targets(rows: int, n_positives: int) -> Tensor:
    """Targets with the positives first."""
    one = torch.arange(n_positives * (1 + RATIO)) < n_positives
    return one.expand(rows, -1)
