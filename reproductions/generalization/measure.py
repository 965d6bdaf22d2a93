"""The numbers of the study: gaps by size, twins for SOPRC's bound, complexities for StableAP's."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.pairs import OneSidedHuber
from rankwise.theory import Mean, WeightedPairs, linear_rademacher
from reproductions.frame import Setting
from reproductions.generalization.losses import (
    METRICS,
    TAU,
    make_loss,
    metric_risks,
    risks,
    top_of,
)
from reproductions.generalization.plan import AXES, Axis, Counts, Plan
from reproductions.generalization.problems import Gaussian, Problem
from reproductions.generalization.training import mean_risks, others_mean, scores_of, train
from reproductions.generalization.twins import TWIN_LOSSES, Twins, measure_twins

SCALES = 20  # lengths of the best scorer that are tried, from 0 to the radius


@dataclass(frozen=True)
class Cell:
    """One loss on samples of one size; a value for each sample.

    ``train`` and ``test`` are risks of the trained model, ``others_train`` and ``others_test``
    those of the mean of the other samples' models, ``metric_…`` one less the metric. ``excess`` is
    the test risk less that of the best scorer, ``limit`` the risk of an infinite list (both where
    the law is known).
    """

    problem: str
    axis: Axis
    size: int
    loss: str
    lists: int
    n_positives: int
    n_negatives: int
    train: list[float]
    test: list[float]
    others_train: list[float]
    others_test: list[float]
    metric_train: list[float]
    metric_test: list[float]
    excess: list[float]
    limit: list[float]

    @property
    def gaps(self) -> list[float]:
        """Test less training risk."""
        return [b - a for a, b in zip(self.train, self.test, strict=True)]

    @property
    def centered(self) -> list[float]:
        """The gap less that of a model the sample did not make, which is 0 in expectation."""
        others = zip(self.others_train, self.others_test, strict=True)
        return [gap - (b - a) for gap, (a, b) in zip(self.gaps, others, strict=True)]

    @property
    def metric_gaps(self) -> list[float]:
        """Test less training value of one less the metric."""
        return [b - a for a, b in zip(self.metric_train, self.metric_test, strict=True)]


@dataclass(frozen=True)
class Complexity:
    """The pairwise Rademacher complexity of the linear scorers on one sample."""

    axis: Axis
    size: int
    value: Mean


@dataclass(frozen=True)
class Measured:
    """Everything measured."""

    plan: Plan
    problems: tuple[Problem, ...]
    cells: list[Cell]
    twins: list[Twins]
    complexities: list[Complexity]

    def along(self, problem: str, axis: str, loss: str) -> list[Cell]:
        """Return the cells of a loss along an axis, by size."""
        wanted = (problem, axis, loss)
        return [c for c in self.cells if (c.problem, c.axis, c.loss) == wanted]


def measure(plan: Plan, setting: Setting) -> Measured:
    """Train on samples of every size, then the twins, then the complexities."""
    problems = {problem.name: problem for problem in (Gaussian(), plan.table)}
    gaussian = Gaussian()

    def gap(key: tuple[str, Axis, int, str]) -> Cell:
        name, axis, size, loss = key
        return measure_cell(plan, problems[name], (axis, size), loss, setting.seed)

    def twin(key: tuple[str, int]) -> Twins:
        seed = seed_of(setting.seed, "twins", key[1])
        return measure_twins(gaussian, *key, radius=plan.radius, repeats=plan.repeats, seed=seed)

    def complexity(key: tuple[Axis, int]) -> Complexity:
        counts = plan.counts(*key)
        seed = seed_of(setting.seed, "complexity", *key)
        generator = torch.Generator().manual_seed(seed)
        features = gaussian.draw(1, counts.positives, counts.negatives, generator).squeeze(0)
        found = linear_rademacher(
            features,
            torch.arange(len(features)) < counts.positives,
            plan.radius,
            pairs=WeightedPairs(OneSidedHuber(TAU)),
            link=torch.tanh,
            draws=plan.signs,
            starts=2,
            steps=30,
            seed=seed,
        )
        return Complexity(*key, found)

    work = [
        (problem, axis, size, loss)
        for problem in problems
        for axis in AXES
        for size in plan.sizes_of(axis)
        for loss in METRICS
    ]
    cells = setting.each(plan, work, "training on samples", gap, Cell)
    pairs = [(loss, size) for loss in TWIN_LOSSES for size in plan.twin_sizes]
    twins = setting.each(plan, pairs, "training twins", twin, Twins)
    places: list[tuple[Axis, int]] = [(axis, size) for axis in AXES[1:] for size in plan.sizes]
    drawn = setting.each(plan, places, "drawing signs", complexity, Complexity)
    return Measured(plan, tuple(problems.values()), cells, twins, drawn)


def measure_cell(
    plan: Plan, problem: Problem, place: tuple[Axis, int], name: str, seed: int
) -> Cell:
    """Train one model on each of the samples of a size; all losses have the same samples."""
    counts = plan.counts(*place)
    lists, positives, negatives = counts
    models, k, draw = plan.repeats, top_of(negatives), seed_of(seed, problem.name, *place)
    generator = torch.Generator().manual_seed(draw)
    features = problem.draw(models * lists, positives, negatives, generator)
    features = features.view(models, lists, counts.items, -1)
    weights = train(
        make_loss(name, models * lists, k),
        features,
        positives,
        radius=plan.radius,
        steps=plan.steps,
        learning_rate=plan.learning_rate,
    )

    def risk_of(scores: Tensor) -> Tensor:
        return mean_risks(lambda s: risks(make_loss(name, len(s), k), s, positives), scores)

    def metric_of(scores: Tensor) -> Tensor:
        return mean_risks(lambda s: metric_risks(METRICS[name], s, positives, k), scores)

    def fresh(weights: Tensor) -> Tensor:
        # The same draws for all models that are compared.
        again = torch.Generator().manual_seed(draw + 1)
        count = max(1, plan.fresh // counts.items)
        return problem.fresh(weights, count, positives, negatives, again)

    others = others_mean(weights)
    seen, unseen = scores_of(weights, features), torch.tanh(fresh(weights))
    test = risk_of(unseen)
    excess, limit = torch.zeros(0), torch.zeros(0)
    if isinstance(problem, Gaussian):
        longest = fresh((plan.radius / problem.center.norm() * problem.center).expand(models, -1))
        scales = torch.linspace(0, 1, SCALES + 1).view(-1, 1, 1, 1)
        scaled = risk_of(torch.tanh(scales * longest).flatten(0, 1)).view(-1, models)
        excess = test - scaled[int(scaled.mean(1).argmin())]
        if lists == 1:
            limit = _limit(plan, problem, weights, name, counts)
    return Cell(
        problem.name,
        *place,
        name,
        *counts,
        train=risk_of(seen).tolist(),
        test=test.tolist(),
        others_train=risk_of(scores_of(others, features)).tolist(),
        others_test=risk_of(torch.tanh(fresh(others))).tolist(),
        metric_train=metric_of(seen).tolist(),
        metric_test=metric_of(unseen).tolist(),
        excess=excess.tolist(),
        limit=limit.tolist(),
    )


def _limit(plan: Plan, problem: Gaussian, weights: Tensor, name: str, counts: Counts) -> Tensor:
    """Return the risks on a long list of the same share of positives, at exact quantiles."""
    times = max(1, plan.long // counts.items)
    positives, k = times * counts.positives, times * top_of(counts.negatives)
    scores = torch.tanh(problem.quantiles(weights, positives, times * counts.negatives))
    return mean_risks(lambda rows: risks(make_loss(name, len(rows), k), rows, positives), scores)


def seed_of(*parts: object) -> int:
    """Return a seed that depends on all parts, and on nothing else."""
    return zlib.crc32(" ".join(map(str, parts)).encode())
