"""Two losses on the same simulated lists, all runs in one descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.metrics import auroc, precision_at_k
from rankwise.objectives import Objective, PApAtK
from reproductions.frame import BasePlan, Setting
from reproductions.papk_solvers.gradients import PartialAUCAtK, StrictPrecisionAtK

FEATURES = 5
PAP = "GD-pAp@k-avg"


@dataclass(frozen=True)
class Case:
    """How many of each there are, and whom pAp@k is compared with."""

    name: str
    n_positives: int
    n_negatives: int
    k: int
    rival: str

    def losses(self) -> dict[str, Objective]:
        """The rival and ours."""
        rivals = {"SGD@k-avg": StrictPrecisionAtK, "SVM-pAUC": PartialAUCAtK}
        return {self.rival: rivals[self.rival](self.k), PAP: PApAtK(self.k, "avg", score_scale=1)}


CASES = (
    Case("Case 1, n⁺ < k", 10, 160, 20, "SGD@k-avg"),
    Case("Case 2, n⁺ > k", 20, 160, 10, "SVM-pAUC"),
)


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is simulated."""

    QUICK: ClassVar = {"runs": 40, "steps": 200}
    DRAWS = "runs"

    runs: int = 300
    steps: int = 1_000
    eta: float = 0.5
    lam: float = 1e-3


@dataclass(frozen=True)
class Run:
    """One list under one method: on the sample it was trained on, or on a new one."""

    case: str
    method: str
    sample: str
    run: int
    precision: float
    auc_at_k: float  # NaN where the top k are of one class


def measure(plan: Plan, setting: Setting) -> list[Run]:
    """Every case, method and sample."""
    work = [(number, name) for number, case in enumerate(CASES) for name in case.losses()]

    def one(key: tuple[int, str]) -> list[Run]:
        case, name = CASES[key[0]], key[1]
        # The same seed for both methods of a case: the same lists.
        generator = torch.Generator().manual_seed(1_000 * setting.seed + key[0])
        samples = {kind: _draw(case, plan.runs, generator) for kind in ("trained on", "new")}
        target = torch.arange(case.n_positives + case.n_negatives) < case.n_positives
        weights = _descend(case.losses()[name], samples["trained on"], target, plan)
        found = []
        for kind, sample in samples.items():
            scores = (sample @ weights.unsqueeze(-1)).squeeze(-1)
            precision, inside = evaluated(scores, target, case.k)
            values = zip(precision.tolist(), inside.tolist(), strict=True)
            found += [Run(case.name, name, kind, run, *pair) for run, pair in enumerate(values)]
        return found

    found = setting.each(plan, work, "descending", one, list[Run])
    return [run for runs in found for run in runs]


def _draw(case: Case, runs: int, generator: torch.Generator) -> Tensor:
    """Positives from N(−1, I), negatives from N(0, I), (runs, items, features)."""
    items = case.n_positives + case.n_negatives
    x = torch.randn(runs, items, FEATURES, generator=generator, dtype=torch.float64)
    x[:, : case.n_positives] -= 1
    return x


def _descend(loss: Objective, x: Tensor, target: Tensor, plan: Plan) -> Tensor:
    """Algorithm 1 for every run by itself: the sum over runs has the gradient of each."""
    weights = x.new_zeros(len(x), FEATURES)
    labels = target.expand(x.shape[:2])
    for step in range(plan.steps):
        w = weights.requires_grad_()
        risk = len(x) * loss((x @ w.unsqueeze(-1)).squeeze(-1), labels) + plan.lam * (w**2).sum()
        (gradient,) = torch.autograd.grad(risk, w)
        weights = (w - plan.eta / (step + 1) ** 0.5 * gradient).detach()
    return weights


def evaluated(scores: Tensor, target: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """precision@k, and AUC among the k highest items (NaN where they are of one class)."""
    labels = target.expand_as(scores).long()
    precision = torch.as_tensor(precision_at_k(scores, labels, k=k, average="none"))
    top, places = scores.topk(k, dim=-1)
    chosen = labels.gather(-1, places)
    mixed = (chosen.sum(-1) > 0) & (chosen.sum(-1) < k)
    inside = precision.new_full(precision.shape, float("nan"))
    if bool(mixed.any()):
        found = auroc(top[mixed], chosen[mixed], average="none")
        inside[mixed] = torch.as_tensor(found, dtype=inside.dtype)
    return precision, inside
