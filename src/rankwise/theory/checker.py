"""The theorems pointed at any loss: its constants, the bounds they make, and verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial

import torch
from torch import Tensor

from rankwise.checks import require_count, require_each
from rankwise.metrics import average_precision
from rankwise.naming import objective as objective_of_name
from rankwise.pairs import Surrogate, as_surrogate
from rankwise.theory import verdicts as rules
from rankwise.theory.bounds import stability_gap_bound
from rankwise.theory.constants import LossConstants, loss_constants
from rankwise.theory.differences import BoundedDifference, Loss, bounded_difference
from rankwise.theory.rademacher import WeightedPairs, linear_rademacher
from rankwise.theory.stability import Stability, model_stability
from rankwise.theory.summary import Mean
from rankwise.theory.twins import TwinTraining, clouds
from rankwise.theory.verdicts import Check

_CONFIDENCE = 0.95
_BATCH = 32


def check(
    objective: str | Loss,
    *,
    surrogate: Surrogate | str | None = None,
    sizes: Sequence[int] = (64, 512, 4096, 32_768),
    rate: float = 0.5,
    low: float = -1.0,
    high: float = 1.0,
    draws: int = 1000,
    n_positives: Sequence[int] = (25, 100),
    steps: int = 30,
    repeats: int = 8,
    training: TwinTraining | None = None,
    seed: int = 0,
) -> Check:
    """Measure what the theorems of SOPRC and StableAP assume and claim, for any loss.

    The constants are the largest values found, hence lower bounds of the true ones, and a verdict
    holds as far as the search went.

    Args:
        objective: A loss, called with the scores and 0/1 targets of one list: an objective, a
            baseline, any function; or the name of an objective. A loss with a memory is copied, so
            that every list and every model has its own.
        surrogate: Pairwise loss ℓ of the objective, for Definition 2, Lemmas 3 and 8 and Theorem 1
            of StableAP; by default the attribute ``surrogate`` of the objective, if it has one.
        sizes: Two or more sizes n of the lists in which one example is replaced, ascending.
        rate: Share of positives in the lists; the prior of the objective should be the same.
        low, high: Range of the scores.
        draws: Number of random lists for every inequality; fewer have one example replaced or a
            gradient taken.
        n_positives: Two or more numbers N⁺ of positives in the data sets of the twin models,
            ascending.
        steps: Number of training steps of the twins.
        repeats: Number of data sets, 2 or more.
        training: Settings of the twins; by default batches of 32 with the share ``rate``.
        seed: Seed of everything random.

    Returns:
        The constants, bounds and verdicts.

    Example:
        >>> from rankwise.objectives import PairwiseAUC
        >>> from rankwise.theory import check
        >>> loss = PairwiseAUC("one_sided_sigmoid(tau=.02)")  # at most 1: c = 1/n⁻ = 2/n
        >>> found = check(loss, sizes=(40, 160), draws=20, repeats=2)
        >>> print(found.verdicts[0])
        bounded differences are O(1/n): yes (slope -1.00 between n = 40 and 160, c = 2/n)

    Reference:
        SOPRC, Assumptions 1 and 2, Definition 1, Theorem 1; StableAP, Definitions 1 and 2,
        Lemmas 3, 7 and 8, Theorem 1.
    """
    for name, values in (("sizes", sizes), ("n_positives", n_positives)):
        if len(values) < 2 or sorted(set(values)) != list(values):
            raise ValueError(f"{name} must be two or more ascending numbers, got {values!r}")
    require_each(require_count, draws=draws, repeats=repeats)
    if repeats < 2:
        raise ValueError(f"repeats must be 2 or more, since 1 has no interval, got {repeats!r}")
    loss = objective_of_name(objective, prior=rate) if isinstance(objective, str) else objective
    own = getattr(loss, "surrogate", None) if surrogate is None else as_surrogate(surrogate)

    fresh = partial(deepcopy, loss)
    lists = {"rate": rate, "low": low, "high": high}
    differences = bounded_difference(fresh, sizes, draws=min(draws, 20), seed=seed, **lists)
    training = _training(rate) if training is None else training
    constants = loss_constants(fresh, training=training, draws=min(draws, 50), seed=seed)
    stabilities = [
        model_stability(
            _side_by_side(fresh), n, [steps], training=training, repeats=repeats, seed=seed
        )[0]
        for n in n_positives
    ]
    positives, negatives = _lists(sizes[0], draws, seed, **lists)
    factors = _factors(fresh, positives, negatives)
    complexities: list[Mean] = []
    verdicts = [
        rules.differences_fall(differences),
        rules.gradient_is_lipschitz(constants),
        rules.models_are_stable(stabilities),
        rules.bounds_the_metric(factors),
    ]
    if isinstance(own, Surrogate):
        given = {name: getattr(loss, name, None) for name in ("epsilon", "a", "t")}
        known = {name: float(v) for name, v in given.items() if isinstance(v, int | float)}
        verdicts += rules.inequalities_hold(own, positives, negatives, high - low, known)
        pairs = WeightedPairs(own, high - low, known.get("a", 0.1), known.get("t", 0.0))
        complexities = [_complexity(pairs, n, rate, seed) for n in sizes[:2]]
        verdicts.append(rules.complexity_falls(sizes[:2], complexities))
    return Check(
        objective if isinstance(objective, str) else getattr(loss, "__name__", repr(loss)),
        constants,
        differences,
        stabilities,
        float(factors.max()),
        _bounds(constants, differences[-1], stabilities[-1], training),
        verdicts,
        complexities,
    )


def _training(rate: float) -> TwinTraining:
    positives = min(max(1, round(rate * _BATCH)), _BATCH - 1)
    return TwinTraining(
        negatives_per_positive=max(1, round((1 - rate) / rate)),
        batch_positives=positives,
        batch_negatives=_BATCH - positives,
        twins=4,
    )


def _complexity(pairs: WeightedPairs, n: int, rate: float, seed: int) -> Mean:
    """Estimate the complexity of scores tanh(w·x), ‖w‖ ≤ 1, scaled to the range."""
    split = round(rate * n)
    features = clouds(split, n - split, TwinTraining(), torch.Generator().manual_seed(seed))
    return linear_rademacher(
        features,
        torch.arange(n) < split,
        pairs=pairs,
        link=lambda scores: pairs.width / 2 * torch.tanh(scores),
        draws=20,
        starts=2,
        steps=50,
        seed=seed,
    )


def _side_by_side(fresh: Callable[[], Loss]) -> Callable[[int], Loss]:
    """Return a factory of losses of several models, each model with its own copy of the loss."""

    def factory(models: int) -> Loss:
        losses = [fresh() for _ in range(models)]

        def mean(scores: Tensor, target: Tensor) -> Tensor:
            rows = zip(losses, scores, target, strict=True)
            return torch.stack([loss(s, t) for loss, s, t in rows]).mean()

        return mean

    return factory


def _lists(
    n: int, draws: int, seed: int, *, rate: float, low: float, high: float
) -> tuple[Tensor, Tensor]:
    """Draw uniform scores, (draws, n⁺) and (draws, n⁻)."""
    generator = torch.Generator().manual_seed(seed)
    scores = low + (high - low) * torch.rand(draws, n, generator=generator, dtype=torch.float64)
    split = round(rate * n)
    return scores[:, :split], scores[:, split:]


def _factors(fresh: Callable[[], Loss], positives: Tensor, negatives: Tensor) -> Tensor:
    """Return (1 − AP)/loss of every list; the largest makes the loss a bound of the metric."""
    target = torch.arange(positives.shape[1] + negatives.shape[1]) < positives.shape[1]
    found = []
    with torch.no_grad():
        for scores in torch.cat([positives, negatives], dim=1):
            risk = 1 - float(torch.as_tensor(average_precision(scores, target)))
            value = float(fresh()(scores, target))
            found.append(risk / value if value > 0 else math.inf if risk > 0 else 0.0)
    return torch.tensor(found, dtype=torch.float64)


def _bounds(
    c: LossConstants, last: BoundedDifference, twins: Stability, t: TwinTraining
) -> dict[str, float]:
    """Return what McDiarmid's inequality makes of c, and SOPRC's Theorem 1 of G and ε."""
    deviation = last.worst * math.sqrt(last.n * math.log(1 / (1 - _CONFIDENCE)) / 2)
    gap = stability_gap_bound(
        c.gradient,
        twins.positive.value,
        twins.negative.value,
        t.batch_positives,
        t.batch_negatives,
    )
    return {
        f"deviation of the loss from its mean, n = {last.n:,}, p = {_CONFIDENCE:g}": deviation,
        "gap of test and training risk, G(n⁺ε⁺ + n⁻ε⁻)": gap,
    }
