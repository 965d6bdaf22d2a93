"""The numbers of the study: twins with rates C/t, constants, inequalities, and checks of losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.memory import interpolate_quantiles
from rankwise.objectives import SOPRC
from rankwise.theory import (
    Check,
    Loss,
    LossConstants,
    TwinTraining,
    check,
    loss_constants,
    model_stability,
)
from reproductions.frame import BasePlan, Setting
from reproductions.list_stability.inequalities import Tested, tested
from reproductions.stability.losses import LISTS, RATE, models

BATCH = (8, 24)  # n⁺ and n⁻ where they are not varied
MEMORY = 100  # entries of v
WIDTH = 6.0  # largest difference of two scores that B_ℓ is taken of


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is computed."""

    QUICK: ClassVar = {
        "steps": (10, 30, 90),
        "n_positives": (90, 180, 360),
        "batch_positives": (4, 8, 16),
        "batch_negatives": (12, 24, 48),
        "repeats": 6,
        "twins": 32,
        "draws": 2_000,
        "sizes": (64, 512, 4096),
    }

    steps: tuple[int, ...] = (10, 25, 50, 100, 200)
    n_positives: tuple[int, ...] = (200, 400, 800, 1600)
    batch_positives: tuple[int, ...] = (4, 8, 16, 32)
    batch_negatives: tuple[int, ...] = (12, 24, 48, 96)
    scales: tuple[float, ...] = (0.1, 1.0)
    repeats: int = 8
    draws: int = 20_000
    sizes: tuple[int, ...] = (64, 512, 4096, 32_768)
    twins: int = 48
    check_steps: int = 30
    checked: tuple[str, ...] = (*LISTS, "highest negative")

    def training(self, scale: float, positives: int, negatives: int) -> TwinTraining:
        """Return the training with η_t = C/t and batches of that size."""
        return TwinTraining(
            negatives_per_positive=BATCH[1] // BATCH[0],
            learning_rate=scale,
            schedule="inverse",
            batch_positives=positives,
            batch_negatives=negatives,
            twins=self.twins,
        )


@dataclass(frozen=True)
class Twin:
    """Distances of one data set after some steps; those of v are NaN for a loss without it."""

    loss: str
    scale: float
    n_positives: int
    batch_positives: int
    batch_negatives: int
    repeat: int
    steps: int
    positive: float
    negative: float
    memory_positive: float
    memory_negative: float
    way: float  # of the model from its start


@dataclass(frozen=True)
class Constants:
    """What enters λ: B, G and L_w as measured, C_φ, and B'_ℓ = (1−π)B_ℓ/π."""

    measured: LossConstants
    interpolation: float
    largest_error: float

    @property
    def printed(self) -> float:
        """L of Lemma 1 without L_v, which is not measured: at least this."""
        parts = (self.interpolation * WIDTH / 2, self.measured.gradient, self.largest_error)
        return max(self.measured.smoothness, *parts)


@dataclass(frozen=True)
class Measured:
    """Everything measured."""

    plan: Plan
    twins: list[Twin]
    constants: Constants
    tested: list[Tested]
    checks: list[Check]


def measure(plan: Plan, setting: Setting) -> Measured:
    """Train twins, measure the constants, draw lists, and check losses."""
    if max(plan.steps) > min(plan.n_positives):
        raise ValueError(
            f"steps must be at most n_positives, as Theorem 2 assumes, got steps={plan.steps} and "
            f"n_positives={plan.n_positives}"
        )

    def train(key: tuple[str, float, int, int, int]) -> list[Twin]:
        name, scale, n, positives, negatives = key
        training = plan.training(scale, positives, negatives)
        return [
            twin
            for repeat in range(plan.repeats)
            for twin in _twins(name, n, plan.steps, training, seed=setting.seed, repeat=repeat)
        ]

    work = work_of(plan)
    trained = setting.each(plan, work, "training twins", train, list[Twin])
    (constants,) = setting.each(
        plan, ["SOPRC"], "constants", lambda _: _constants(plan, setting.seed), Constants
    )
    lists = setting.each(
        plan, ["all"], "inequalities", lambda _: tested(plan.draws, setting.seed), list[Tested]
    )

    def checked(name: str) -> Check:
        found = check(
            CHECKED[name](),
            rate=RATE,
            sizes=plan.sizes,
            steps=plan.check_steps,
            repeats=plan.repeats,
            draws=max(plan.draws // 20, 10),
            seed=setting.seed,
        )
        return replace(found, objective=name)

    checks = setting.each(plan, plan.checked, "checking losses", checked, Check)
    return Measured(plan, list(chain.from_iterable(trained)), constants, lists[0], checks)


def highest_negative(scores: Tensor, target: Tensor) -> Tensor:
    """Return how far the highest negative is above the mean of the positives: not stable."""
    return scores[~target].max() - scores[target].mean()


CHECKED: dict[str, Callable[[], Loss]] = {
    **LISTS,
    "highest negative": lambda: highest_negative,
}


def work_of(plan: Plan) -> list[tuple[str, float, int, int, int]]:
    """List the trainings: all axes for SOPRC, the size of the data for the others."""
    least = plan.n_positives[0]
    found = []
    for scale in plan.scales:
        found += [("SOPRC", scale, n, *BATCH) for n in plan.n_positives]
        found += [("SOPRC", scale, least, n, BATCH[1]) for n in plan.batch_positives]
        found += [("SOPRC", scale, least, BATCH[0], n) for n in plan.batch_negatives]
    others = [name for name in LISTS if name not in ("SOPRC", "SmoothAP")]
    found += [(name, plan.scales[0], n, *BATCH) for name in others for n in plan.n_positives]
    return list(dict.fromkeys(found))


def _factory(name: str, training: TwinTraining) -> Callable[[int], Loss]:
    prior, positives = 1 / (1 + training.negatives_per_positive), training.batch_positives
    if name != "SOPRC":
        return models(prior)[name]
    # β = 1/n⁺, as in Theorem 2; without a wrapper, so that v is seen as part of the model.
    return lambda n: SOPRC(
        prior, n, tau_fpr=1.0, ema_rate=1 / positives, gain="fixed", score_scale=1.0
    )


def _twins(
    name: str, n: int, steps: tuple[int, ...], training: TwinTraining, *, seed: int, repeat: int
) -> list[Twin]:
    factory = _factory(name, training)
    place = seed + repeat
    found = model_stability(factory, n, steps, training=training, repeats=1, seed=place)
    sizes = (training.batch_positives, training.batch_negatives)
    nan = float("nan")
    rows = []
    for s in found:
        memory = [nan if m is None else m.value for m in (s.memory_positive, s.memory_negative)]
        share = s.relative_positive.value
        way = s.positive.value / share if share > 0 else nan
        distances = (s.positive.value, s.negative.value, *memory, way)
        rows.append(Twin(name, training.learning_rate, n, *sizes, repeat, s.steps, *distances))
    return rows


def _constants(plan: Plan, seed: int) -> Constants:
    training = plan.training(plan.scales[0], *BATCH)
    prior = 1 / (1 + training.negatives_per_positive)
    factory = _factory("SOPRC", training)
    draws = max(plan.draws // 200, 10)
    measured = loss_constants(lambda: factory(1), training=training, draws=draws, seed=seed)
    largest = SOPRC(prior, tau_fpr=1.0).false_positives.maximum(-WIDTH, WIDTH)
    return Constants(measured, _interpolation_slope(seed), (1 - prior) / prior * largest)


def _interpolation_slope(seed: int) -> float:
    """C_φ: the largest norm of the Jacobian of φ over random scores of n⁺ positives."""
    generator = torch.Generator().manual_seed(seed)

    def phi(scores: Tensor) -> Tensor:
        row = scores.unsqueeze(0)
        return interpolate_quantiles(row, None, MEMORY).squeeze(0)

    drawn = torch.randn(20, BATCH[0], generator=generator, dtype=torch.float64)
    slopes = [torch.autograd.functional.jacobian(phi, scores) for scores in drawn]
    return max(float(torch.linalg.matrix_norm(slope, 2)) for slope in slopes)
