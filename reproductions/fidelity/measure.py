"""A linear scorer trained on every objective and evaluated by every metric on its training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.naming import metric, objective
from reproductions.fidelity.problem import make_lists, make_problem
from reproductions.frame import BasePlan, Setting

REFERENCE = "cross_entropy"
SPREAD = "spread"  # of the scores, as a share of what it was before the objective

OBJECTIVES = {
    "auc": "auc",
    "compositional": "compositional_auc",
    "minmax": "minmax_auc",
    "opauc": "opauc(max_fpr=.1)",
    "opauc, sigmoid": "opauc(max_fpr=.1, surrogate=sigmoid(2))",
    "opauc, cvar": "opauc(max_fpr=.1, form=cvar)",
    "opauc, kl": "opauc(max_fpr=.1, form=kl)",
    "tpauc": "tpauc(min_tpr=.5, max_fpr=.5)",
    "tpauc, cvar": "tpauc(min_tpr=.5, max_fpr=.5, form=cvar)",
    "tpauc, kl": "tpauc(min_tpr=.5, max_fpr=.5, form=kl)",
    "ap": "ap",
    "soprc": "soprc",
    "stable_ap": "stable_ap",
    "soap": "soap",
    "smooth_ap": "smooth_ap",
    "ndcg": "ndcg",
    "ndcg@20": "ndcg@20",
    "ndcg@20, soft": "ndcg(20, surrogate=sigmoid(20), softness=.05)",
    "listnet": "listnet",
    "listmle": "listmle",
    "approx_ndcg": "approx_ndcg",
    "lambda_loss": "lambda_loss",
    "precision@20": "precision@20",
    "prec@20, max": "precision(20, form=max)",
    "prec@20, ramp": "precision(20, form=ramp)",
    "prec@20, soft": "precision(20, form=soft)",
    "recall@40": "recall(40, tau=.1)",
    "pap@20": "pap@20",
    "pap@20, printed": "pap(20, score_scale=1)",
    "pap@20, max": "pap(20, form=max)",
    "pap@20, ts": "pap(20, form=ts)",
    "pap@20, ramp": "pap(20, form=ramp)",
    "pap@20, soft": "pap(20, form=soft)",
}
"""A short name for every row, and the objective as :func:`rankwise.objective` reads it."""

METRICS = {
    "auc": "auc",
    "opauc": "opauc(max_fpr=.1)",
    "tpauc": "tpauc(min_tpr=.5, max_fpr=.5)",
    "ap": "ap",
    "ndcg": "ndcg",
    "ndcg@20": "ndcg@20",
    "prec@20": "precision@20",
    "rec@40": "recall@40",
    "pap@20": "pap@20",
}
"""A short name for every column, and the metric as :func:`rankwise.metric` reads it."""

PROBLEMS = {"one list": make_problem, "lists": make_lists}


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is trained."""

    QUICK: ClassVar = {"steps": 100, "repeats": 3}

    items: int = 1_000
    steps: int = 300
    repeats: int = 20


@dataclass(frozen=True)
class Value:
    """One metric of one trained scorer on one problem, or the spread of its scores."""

    objective: str
    metric: str
    repeat: int
    value: float
    problem: str = "one list"


def measure(plan: Plan, setting: Setting) -> list[Value]:
    """Every objective on every problem; all of them start at the solution of cross-entropy."""
    draws = [(problem, repeat) for problem in PROBLEMS for repeat in range(plan.repeats)]

    def one(key: tuple[str, int]) -> list[Value]:
        problem, repeat = key
        found: list[Value] = []
        x, target = PROBLEMS[problem](plan.items, 1_000 * setting.seed + repeat)
        start = _train(REFERENCE, x, target, plan.steps, torch.zeros(x.shape[-1]))
        for name in (REFERENCE, *OBJECTIVES):
            # The reference goes on like the others: nobody is ahead by steps.
            scores = x @ _train(name, x, target, plan.steps, start)
            values = {
                criterion: metric(full).value(scores, target) for criterion, full in METRICS.items()
            }
            values[SPREAD] = scores.std() / (x @ start).std()
            found += [
                Value(name, criterion, repeat, float(value), problem)
                for criterion, value in values.items()
            ]
        return found

    outcomes = setting.each(plan, draws, "training", one, list[Value])
    return [value for values in outcomes for value in values]


def _train(name: str, x: Tensor, target: Tensor, steps: int, start: Tensor) -> Tensor:
    """Full batches, Adam with a cosine to zero."""
    prior = float(target.float().mean())
    loss = objective(OBJECTIVES.get(name, name), prior=prior, num_items=target.numel())
    item_ids = torch.arange(target.numel()).view_as(target)
    weights = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([weights, *loss.parameters()], lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(x @ weights, target, item_ids=item_ids).backward()
        optimizer.step()
        schedule.step()
    return weights.detach()
