"""All trainings of the study, each over all data sets at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from reproductions.convergence.constants import constants, gradient_bias
from reproductions.convergence.estimates import estimates
from reproductions.convergence.plan import (
    BATCH,
    BOTH,
    CONSTANT,
    INVERSE,
    LARGE,
    MOMENTUM,
    PLAIN,
    PRINTED,
    PROOF,
    PROOF_LARGE,
    REDUCED,
    Constants,
    Estimate,
    Measured,
    Plan,
    Row,
)
from reproductions.convergence.problem import LOSSES, Problem
from reproductions.convergence.training import Training, Way, train
from reproductions.frame import Setting

RULES = {"Lemma 14": False, "Algorithm 1 as printed": True}
_MOST = 1 - 1 / math.sqrt(2)  # of β, Theorem 4


@dataclass(frozen=True)
class _Known:
    """What all trainings share."""

    problem: Problem
    risks: dict[str, Tensor]  # at the stationary point, (rows,)
    mu: float
    lipschitz_u: float
    seed: int


def measure(plan: Plan, setting: Setting) -> Measured:
    """Measure everything; each training is kept as it ends."""
    seed = setting.seed
    single = Problem(plan, seed, 1)
    ends = {name: single.stationary(name) for name in LOSSES}
    found: list[Constants] = constants(plan, seed, ends)
    problem = Problem(plan, seed, plan.chains)
    known = _Known(
        problem,
        {n: single.field(n, ends[n])[0].repeat_interleave(plan.chains) for n in LOSSES},
        mu=min(each.mu for each in found),
        lipschitz_u=max(each.lipschitz_u for each in found),
        seed=seed + 1,
    )

    def run(item: tuple[str, str, float]) -> list[Row]:
        return _rows(known, *item)

    def fixed(item: tuple[str, int]) -> list[Estimate]:
        name, batch = item
        if not batch:
            return estimates(plan, seed, ends["SOPRC"])
        weights = ends[name].repeat_interleave(plan.chains, 0)
        return gradient_bias(problem, name, weights, batch, seed)

    rows = setting.each(plan, work_of(plan), "training", run, list[Row])
    tasks = [("SOPRC", 0), *((name, batch) for name in LOSSES for batch in plan.batches)]
    still = setting.each(plan, tasks, "fixed model", fixed, list[Estimate])
    return Measured(plan, found, [r for each in rows for r in each], [e for s in still for e in s])


def work_of(plan: Plan) -> list[tuple[str, str, float]]:
    """Every training: experiment, variant, and the value that is varied."""
    work = [("T", v, float(t)) for v in (REDUCED, PLAIN, BOTH) for t in plan.horizons]
    work += [("n⁺", REDUCED, float(n)) for n in plan.batches]
    work += [("λ", v, each) for v in (REDUCED, PLAIN) for each in plan.lambdas]
    work += [("β", f"s = {s}", each) for s in (0, 1) for each in plan.betas]
    work += [("s", rule, each) for rule in RULES for each in plan.ss]
    # The rates of SOPRC do not depend on T: one training has all of them.
    schedules = (CONSTANT, INVERSE, PRINTED, PROOF, PROOF_LARGE)
    work += [("T, SOPRC", name, 0.0) for name in schedules]
    work += [("n⁺, SOPRC", PROOF, float(n)) for n in plan.batches]
    work += [("β of v, SOPRC", CONSTANT, each) for each in plan.ema_rates]
    return work


def training_of(
    plan: Plan, item: tuple[str, str, float], mu: float, lipschitz_u: float
) -> Training:
    """Return the training of one item of the work."""
    experiment, variant, x = item
    steps = plan.steps
    if experiment.endswith("SOPRC"):
        batch = int(x) if experiment == "n⁺, SOPRC" else BATCH
        batch = LARGE if variant == PROOF_LARGE else batch
        steps = max(plan.horizons) if experiment == "T, SOPRC" else steps
        ema = x if experiment == "β of v, SOPRC" else 1 / batch
        rates = {
            CONSTANT: lambda t: plan.rate,
            INVERSE: lambda t: plan.inverse_scale / t,
            PRINTED: lambda t: (2 * t + 1) / (mu * (t + 1) ** 2),
            PROOF: lambda t: 2 * (2 * t + 1) / (mu * (t + 1) ** 2),
        }
        return Training("SOPRC", steps, batch, rates[variant.split(",")[0]], ema)
    if experiment == "T":
        steps = int(x)
    root = math.sqrt(steps)
    rate, lam = plan.rate_scale / root, min(1.0, plan.lambda_scale / root)
    beta = min(_MOST, 1 / math.sqrt(3 * lipschitz_u), plan.momentum_scale / root)
    if experiment == "λ":
        lam = x
    s = 1.0
    if experiment in {"β", "s"}:  # with α/(1−β) as it is elsewhere, the step of Lemma 12
        moved = rate / (1 - beta)
        beta, s = (x, float(variant[-1])) if experiment == "β" else (MOMENTUM, x)
        rate = moved * (1 - beta)
    batch = LARGE if variant == BOTH else int(x) if experiment == "n⁺" else BATCH
    return Training(
        "StableAP",
        steps,
        batch,
        lambda _: rate,
        lam,
        momentum=beta,
        s=s,
        previous=variant != PLAIN,
        printed=RULES.get(variant, False),
    )


def _rows(known: _Known, experiment: str, variant: str, x: float) -> list[Row]:
    problem, plan = known.problem, known.problem.plan
    training = training_of(plan, (experiment, variant, x), known.mu, known.lipschitz_u)
    if experiment == "T, SOPRC":
        way = train(problem, training, [t + 1 for t in plan.horizons], known.seed)
        return [
            row
            for at, steps in enumerate(plan.horizons)
            for row in _seen(known, way, (experiment, variant, float(steps)), [at], training)
        ]
    # In the middle of equal parts, so that their mean is that over all steps; and at the end.
    places = {1 + int((i + 0.5) * training.steps / plan.looks) for i in range(plan.looks)}
    looks = [*sorted(places), training.steps + 1]
    way = train(problem, training, looks, known.seed)
    if experiment.endswith("SOPRC"):  # Theorem 3 is about the end
        return _seen(known, way, (experiment, variant, x), [-1], training)
    return _seen(known, way, (experiment, variant, x), list(range(len(looks) - 1)), training)


def _seen(
    known: _Known, way: Way, name: tuple[str, str, float], at: list[int], training: Training
) -> list[Row]:
    """Average the looks ``at`` for every data set; the risk is that of the last look."""
    problem = known.problem
    last = at[0] if len(at) == 1 else -1
    excess = way.risk[last] - known.risks[training.loss]
    limits = _limits(known, way, training)
    gradients = way.gradient[at].mean(0), way.gradient[last]
    columns = (*gradients, excess, way.memory[at].mean(0), way.moved, way.noise, *limits)
    by_repeat = zip(*(problem.by_repeat(each) for each in columns), strict=True)
    return [Row(*name, repeat, *values) for repeat, values in enumerate(by_repeat)]


def _limits(known: _Known, way: Way, training: Training) -> tuple[Tensor, Tensor]:
    """Lemma 15 for (μ̂ − μ⁺)² and Lemma 14 for the step, with what was measured in them.

    μ̂ starts at the mean of the first batch and not at μ⁺, which adds κ²/(λT) to Lemma 15.
    """
    problem, nothing = (
        known.problem,
        torch.full((known.problem.rows,), math.nan, dtype=torch.float64),
    )
    if training.loss == "SOPRC" or not training.previous or training.printed:
        return nothing, nothing
    rate, beta, s, steps = training.rate(1), training.momentum, training.s, training.steps
    moves = steps * (s * (1 - beta) - 1) ** 2 * beta**2 / (1 - beta**2) + 2 * (1 + s * beta) ** 2
    longest = problem.positives.norm(dim=-1).amax(1)  # φ_f of a linear model
    variance = way.spread / training.batch  # κ²
    lam = training.ema_rate
    memory = 6 * longest**2 * way.moved / lam + variance * (3 * lam + 1 / (lam * steps))
    return memory, rate**2 * way.noise * moves
