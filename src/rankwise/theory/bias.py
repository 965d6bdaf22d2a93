"""How far the estimate of a batch is from the risk of the population, on average and by spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.lists import Lists
from rankwise.objectives import SOPRC, AveragePrecision, Objective
from rankwise.pairs import ZeroOne
from rankwise.theory.population import Population
from rankwise.theory.summary import Mean, mean_of

__all__ = ["ESTIMATORS", "Bias", "Estimator", "batch_ap", "estimator_bias", "prior_only", "soprc"]

Estimator = Callable[[float, int], Objective]
"""Makes an objective from the prior of the data set and the number of lists it is to remember."""


@dataclass(frozen=True)
class Bias:
    """What an estimator made of batches of ``size`` with the share ``rate`` of positives.

    ``estimate`` is the mean over the draws with a standard error from the independent chains,
    ``spread`` the standard deviation of a single draw, ``truth`` the risk of the population.
    """

    estimator: str
    rate: float
    size: int
    draws: int
    truth: float
    estimate: Mean
    spread: float

    @property
    def bias(self) -> float:
        """Mean estimate − truth."""
        return self.estimate.value - self.truth


def batch_ap(prior: float, lists: int) -> AveragePrecision:
    """1 − AP of the batch itself, whose share of positives stands in for the prior   (SOPRC 5)."""
    return AveragePrecision(
        None,
        false_positives=ZeroOne(),
        true_positives=ZeroOne(),
        gain="fixed",
        score_scale=1.0,
    )


def prior_only(prior: float, lists: int) -> AveragePrecision:
    """The prior of the data set, but the true positive rate of the batch   (SOPRC 3)."""
    return AveragePrecision(
        prior,
        false_positives=ZeroOne(),
        true_positives=ZeroOne(),
        gain="fixed",
        score_scale=1.0,
    )


def soprc(prior: float, lists: int, *, points: int = 1000, beta: float = 0.05) -> SOPRC:
    """The prior of the data set and the true positive rate by v   (SOPRC 8), ℓ₀₁ in both places."""
    objective = SOPRC(prior, lists, points=points, ema_rate=beta, gain="fixed", score_scale=1.0)
    # The surrogates are for gradients; the claim is about the estimate.
    objective.false_positives = objective.true_positives = ZeroOne()
    return objective


ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {"batch AP": batch_ap, "prior only": prior_only, "SOPRC": soprc}
)
"""The estimators of SOPRC's Figures 1 and 4, and between them the one with the prior but no v."""


def estimator_bias(
    population: Population,
    estimators: Mapping[str, Estimator] = ESTIMATORS,
    *,
    rate: float,
    size: int,
    draws: int = 500,
    chains: int = 25,
    burn_in: int = 100,
    seed: int = 0,
) -> list[Bias]:
    """Bias and spread of each of ``estimators`` over ``draws`` batches   (SOPRC Proposition 2).

    The batches have ``size`` scores, the share ``rate`` of them positive. They come in ``chains``
    independent sequences, each with its own memory, which sees ``burn_in`` batches before the
    first estimate counts: successive estimates of one memory depend on each other, so the
    standard error is that of the means of the chains. All estimators see the same batches.
    """
    for name, value in (("size", size), ("draws", draws), ("chains", chains)):
        require_count(name, value)
    n_positives = round(rate * size)
    if not 0 < n_positives < size:
        raise ValueError(f"rate must leave both classes in a batch of {size}, got {rate!r}")
    chains = min(chains, draws)
    steps = math.ceil(draws / chains)
    rng = np.random.default_rng(seed)
    by_list = {name: _ByList(make(population.prior, chains)) for name, make in estimators.items()}
    estimates: dict[str, list[Tensor]] = {name: [] for name in by_list}
    target = (torch.arange(size) < n_positives).expand(chains, -1)
    for step in range(burn_in + steps):
        scores = population.draw(chains, n_positives, size - n_positives, rng)
        for name, estimator in by_list.items():
            if step >= burn_in:
                estimates[name].append(estimator(scores, target))
            elif estimator.objective.memory_by is not None:
                estimator(scores, target)
    found = {name: torch.stack(by_step).double() for name, by_step in estimates.items()}
    return [
        Bias(
            estimator=name,
            rate=rate,
            size=size,
            draws=values.numel(),
            truth=population.risk,
            estimate=mean_of(values.mean(0)),
            spread=float(values.std()) if values.numel() > 1 else math.nan,
        )
        for name, values in found.items()
    ]


class _ByList:
    """An objective's risk of every list: its call hands out their mean only."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._risks: list[Tensor] = []
        taken = objective.risk

        def risk(lists: Lists) -> Tensor:
            self._risks.append(taken(lists))
            return self._risks[-1]

        vars(objective).update(risk=risk)

    def __call__(self, scores: Tensor, target: Tensor) -> Tensor:
        self._risks.clear()
        # One memory for each list. Not under no_grad: there a memory does not learn.
        self.objective(scores, target, list_ids=torch.arange(len(scores)))
        return torch.cat(self._risks)
