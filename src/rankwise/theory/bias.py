"""Bias and spread of the estimate of a batch against the risk of the population."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count, require_each
from rankwise.objectives import SOPRC, AveragePrecision, Objective
from rankwise.pairs import ZeroOne
from rankwise.theory.population import Population
from rankwise.theory.summary import Mean, mean_of

Estimator = Callable[[float, int], Objective]
"""A function from the prior of the data set and the number of lists to an objective."""


@dataclass(frozen=True)
class Bias:
    """Bias and spread of an estimator.

    Attributes:
        estimator: Name of the estimator.
        rate: Share of positives in a batch.
        size: Size of a batch.
        draws: Number of batches.
        truth: Risk of the population.
        estimate: Mean over the batches, with a standard error from the independent chains.
        spread: Standard deviation of a single estimate.

    Example:
        >>> from rankwise.theory import Bias, Mean
        >>> Bias("batch AP", 0.5, 20, 100, 0.75, Mean(0.25, 0.01, 25), 0.1).bias
        -0.5
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
        """The mean estimate minus the truth."""
        return self.estimate.value - self.truth


def batch_ap(prior: float, lists: int) -> AveragePrecision:
    """Return the estimator 1 − AP of the batch, whose share of positives stands for the prior.

    Args:
        prior: Not used.
        lists: Not used.

    Returns:
        The objective.

    Example:
        >>> import torch
        >>> from rankwise.theory import batch_ap
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> round(batch_ap(0.1, 1)(scores, target).item(), 4)  # 1 − (1/1 + 2/3)/2
        0.1667

    Reference:
        SOPRC, Eq. 5.
    """
    return prior_only(None, lists)


def prior_only(prior: float | None, lists: int) -> AveragePrecision:
    """Return the estimator with the prior of the data set, but the TPR of the batch.

    Args:
        prior: Share of positives in the data set.
        lists: Not used.

    Returns:
        The objective.

    Example:
        >>> import torch
        >>> from rankwise.theory import prior_only
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> round(prior_only(0.1, 1)(scores, target).item(), 4)  # 1 − (1 + 0.1/(0.1 + 0.9/2))/2
        0.4091

    Reference:
        SOPRC, Eq. 3.
    """
    exact = ZeroOne()
    return AveragePrecision(
        prior, false_positives=exact, true_positives=exact, gain="fixed", score_scale=1.0
    )


def soprc(prior: float, lists: int, *, points: int = 1000, beta: float = 0.05) -> SOPRC:
    """Return the estimator with the prior of the data set and the TPR by v, ℓ₀₁ in both places.

    Args:
        prior: Share of positives in the data set.
        lists: Number of lists that have a memory.
        points: Number of quantiles in v.
        beta: Rate of the moving average v, β of Eq. 10.

    Returns:
        The objective.

    Example:
        >>> from rankwise.theory import soprc
        >>> type(soprc(0.1, 1)).__name__
        'SOPRC'

    Reference:
        SOPRC, Eq. 8.
    """
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
    """Measure bias and spread of estimators over batches of a population.

    The batches come in independent chains, each with its own memory: successive estimates of one
    memory depend on each other, so the standard error is that of the means of the chains. All
    estimators use the same batches.

    Args:
        population: The population.
        estimators: Estimators by name.
        rate: Share of positives in a batch.
        size: Size of a batch.
        draws: Number of batches.
        chains: Number of independent chains.
        burn_in: Batches of a chain before the first estimate counts.
        seed: Seed of the batches.

    Returns:
        Bias and spread of each estimator.

    Example:
        >>> from rankwise.theory import estimator_bias, simulate
        >>> found = estimator_bias(
        ...     simulate("binormal", size=2000), rate=0.5, size=20, draws=50, chains=5, burn_in=10
        ... )
        >>> [each.estimator for each in found if each.bias < -0.4]  # positives are 10 %, not 50 %
        ['batch AP']

    Reference:
        SOPRC, Proposition 2.
    """
    require_each(require_count, size=size, draws=draws, chains=chains)
    n_positives = round(rate * size)
    if not 0 < n_positives < size:
        raise ValueError(f"rate must leave both classes in a batch of {size}, got {rate!r}")
    chains = min(chains, draws)
    steps = math.ceil(draws / chains)
    rng = np.random.default_rng(seed)
    objectives = {name: make(population.prior, chains) for name, make in estimators.items()}
    estimates: dict[str, list[Tensor]] = {name: [] for name in objectives}
    target = (torch.arange(size) < n_positives).expand(chains, -1)
    for step in range(burn_in + steps):
        scores = population.draw(chains, n_positives, size - n_positives, rng)
        for name, objective in objectives.items():
            objective.reduction = "none"
            if step >= burn_in or objective.memory_by is not None:
                # Not under no_grad: there a memory does not learn.
                estimate = objective(scores, target, list_ids=torch.arange(chains)).detach()
                if step >= burn_in:
                    estimates[name].append(estimate)
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
