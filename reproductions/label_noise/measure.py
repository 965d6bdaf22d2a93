"""Linear scorers trained on flipped labels, with every surrogate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.metrics import auroc
from rankwise.objectives import PairwiseAUC
from rankwise.pairs import (
    BarrierHinge,
    Exponential,
    Logistic,
    OneSidedHuber,
    Sigmoid,
    SquaredHinge,
    Surrogate,
)
from reproductions.frame import BasePlan, Setting

FEATURES = 10
SURROGATES: dict[str, Surrogate] = {
    "sigmoid": Sigmoid(1.0),
    "barrier hinge": BarrierHinge(10.0, 5.0),
    "squared hinge": SquaredHinge(1.0),
    "logistic": Logistic(1.0),
    "one-sided Huber": OneSidedHuber(1.0),
    "exponential": Exponential(1.0),
}
PROBLEMS = ("generated", "generated, outliers", "breast cancer")


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is trained, and which shares of the labels of each class are flipped."""

    QUICK: ClassVar = {"steps": 30, "repeats": 3}

    positives_flipped: tuple[float, ...] = (0.0, 0.2, 0.4, 0.5, 0.0)
    negatives_flipped: tuple[float, ...] = (0.0, 0.2, 0.4, 0.0, 0.5)
    items: int = 500
    test_items: int = 2_000
    outliers: float = 0.05
    steps: int = 60
    repeats: int = 5

    def __post_init__(self) -> None:
        if len(self.positives_flipped) != len(self.negatives_flipped):
            raise ValueError(
                "positives_flipped and negatives_flipped must have one share for each setting, "
                f"got {len(self.positives_flipped)} and {len(self.negatives_flipped)}"
            )

    def noises(self) -> list[str]:
        """Return a name for each setting of flipped labels."""
        pairs = zip(self.positives_flipped, self.negatives_flipped, strict=True)
        return [f"{a:.0%} of the positives, {b:.0%} of the negatives" for a, b in pairs]


@dataclass(frozen=True)
class Fit:
    """One training: its test AUC by the true labels."""

    problem: str
    noise: int  # place of its shares in the plan
    repeat: int
    loss: str
    auc: float


def measure(plan: Plan, setting: Setting) -> list[Fit]:
    """Every surrogate on every problem and noise: same data, same flips, same start."""
    work = [
        (problem, noise, repeat)
        for problem in PROBLEMS
        for noise in range(len(plan.positives_flipped))
        for repeat in range(plan.repeats)
    ]

    def fits(run: tuple[str, int, int]) -> list[Fit]:
        return _fits(plan, setting.seed, *run)

    return [fit for some in setting.each(plan, work, "training", fits, list[Fit]) for fit in some]


def _fits(plan: Plan, seed: int, problem: str, noise: int, repeat: int) -> list[Fit]:
    generator = torch.Generator().manual_seed(1_000 * seed + repeat)
    (x, y), (x_test, y_test) = data(plan, problem, generator)
    labels = flipped(y, plan.positives_flipped[noise], plan.negatives_flipped[noise], generator)
    found = []
    for name, surrogate in SURROGATES.items():
        weights = trained(surrogate, x, labels, plan.steps)
        found.append(Fit(problem, noise, repeat, name, float(auroc(x_test @ weights, y_test))))
    return found


def flipped(y: Tensor, positives: float, negatives: float, generator: torch.Generator) -> Tensor:
    """Return labels with these shares of each class flipped at random."""
    chance = torch.where(y, positives, negatives)
    return y ^ (torch.rand(len(y), generator=generator) < chance)


def trained(surrogate: Surrogate, x: Tensor, labels: Tensor, steps: int) -> Tensor:
    """Return the weights after full-batch steps of Adam from 0."""
    loss = PairwiseAUC(surrogate)
    weights = torch.zeros(x.shape[1], dtype=x.dtype, requires_grad=True)
    optimizer = torch.optim.Adam([weights], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(x @ weights, labels).backward()
        optimizer.step()
    return weights.detach()


def data(
    plan: Plan, problem: str, generator: torch.Generator
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Return features and true labels to train on and to test on, standardized alike."""
    if problem == "breast cancer":
        train, test = _breast_cancer(generator)
    else:
        train, test = (_generated(n, generator) for n in (plan.items, plan.test_items))
    (x, y), (x_test, y_test) = train, test
    center, spread = x.mean(0), x.std(0)
    x, x_test = (x - center) / spread, (x_test - center) / spread
    if problem == "generated, outliers":
        chosen = torch.rand(len(x), generator=generator) < plan.outliers
        x = torch.where(chosen[:, None], 10 * torch.randn(x.shape, generator=generator), x).double()
    return (x, y), (x_test, y_test)


def _generated(items: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    y = torch.rand(items, generator=generator) < 0.4
    x = torch.randn(items, FEATURES, generator=generator, dtype=torch.float64)
    x[y, 0] += 1.0
    x[y, 1] += 0.7
    x[:, 2] += 0.8 * x[:, 0]  # of no use but to take the noise of the first away
    return x, y


def _breast_cancer(
    generator: torch.Generator,
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415  (listing needs no data)

    features, classes = load_breast_cancer(return_X_y=True)
    x, y = torch.from_numpy(features), torch.from_numpy(classes) == 0  # malignant
    order = torch.randperm(len(x), generator=generator)
    first, second = order[: len(x) // 2], order[len(x) // 2 :]
    return (x[first], y[first]), (x[second], y[second])
