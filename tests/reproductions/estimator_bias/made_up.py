"""What a study of bias would have measured, by rule."""

from __future__ import annotations

from collections.abc import Callable

from rankwise.theory import ESTIMATORS, SIMULATIONS, Bias, InterpolationError, Mean
from reproductions.estimator_bias.measure import PRIOR, RATES, Measured, Plan

PLAN = Plan(
    sizes=(500, 1000), draws=6, chains=3, burn_in=2, population=20_000, counts=(20, 50),
    points=(10, 100),
)  # fmt: skip
TRUTH = 0.4


def usual(estimator: str, rate: float) -> float:
    """Batch AP is off by π − π₀, the prior alone takes half of that away and SOPRC nine tenths."""
    return (PRIOR - rate) * {"batch AP": 1.0, "prior only": 0.5, "SOPRC": 0.1}[estimator]


def bias(estimator: str, rate: float, size: int, value: float, error: float = 0.001) -> Bias:
    return Bias(estimator, rate, size, 6, TRUTH, Mean(TRUTH + value, error, 3), 0.05)


def biases(
    of: Callable[[str, float], float] = usual, *, sizes: tuple[int, ...] = PLAN.sizes,
    error: float = 0.001,
) -> list[Bias]:  # fmt: skip
    """Of one law: every size, rate and estimator."""
    return [
        bias(name, rate, size, of(name, rate), error)
        for size in sizes
        for rate in RATES
        for name in ESTIMATORS
    ]


def error_of(n: int, points: int, *, level: float = 1.0) -> InterpolationError:
    return InterpolationError(
        n, points, level / n**2, level / n**2 / 2, level / n**2 * 2, 1 / n, 1 / n**0.5
    )


def measured(by_law: dict[str, list[Bias]] | None = None) -> Measured:
    """All laws alike, but that the uniform law has no curvature."""
    level = {name: 0.0 if "uniform" in name else 1.0 for name in SIMULATIONS}
    return Measured(
        PLAN,
        {},
        by_law or {name: biases() for name in SIMULATIONS},
        {k: [error_of(n, 100, level=v) for n in PLAN.counts] for k, v in level.items()},
        {k: [error_of(100, m, level=v) for m in PLAN.points] for k, v in level.items()},
    )
