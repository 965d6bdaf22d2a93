"""Select-pAp@k with every pool optimized until convergence   (Budhiraja et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from rankwise.estimators.data import Matrix
from rankwise.estimators.papk.descent import Found, Problem
from reproductions.papk_solvers.gradients import SelectedGradient

Array = NDArray[np.float64]
Loss = Callable[[Array], tuple[float, Array]]

_SMALL = 10**7  # values up to which a pool is optimized in double precision
_MOST = 10_000  # steps on a pool, so that a tolerance out of reach ends


def select_fully(
    problem: Problem,
    k: int,
    lams: Array,
    *,
    pools: int,
    patience: int,
    tolerance: float,
    start: tuple[Array, float] | None,
) -> Found:
    """Choose pools and minimize cross-entropy + λ‖w‖² on each, for every λ.

    A pool is optimized until no entry of the gradient is above ``tolerance``. The next pool is
    chosen by the scores at that minimum. A λ ends when a pool comes back, which would repeat for
    ever, after ``patience`` pools without a better metric, or after ``pools`` of them. The minimum
    of the pool with the best metric is kept; ``steps`` counts pools.
    """
    design, users = problem.design, problem.users
    target = users.target.numpy().astype(np.float64)

    def one(lam: float) -> tuple[Array, float, float, int]:
        now = (np.zeros(design.columns), 0.0) if start is None else start
        best, highest = now, -np.inf
        if start is not None:
            highest = float(problem.evaluate(now[0][:, None])[0])
        chosen, seen, without = SelectedGradient(k, 1), set[bytes](), 0
        for _ in range(pools):
            scores = design.scores(now[0]).astype(np.float64) + now[1]
            pool = chosen.pool(users, torch.from_numpy(scores[None])).numpy()[0]
            if pool.tobytes() in seen or without >= patience:
                break
            seen.add(pool.tobytes())
            rows = np.flatnonzero(pool)
            loss = cross_entropy(design.matrix[rows], target[rows], pool[rows], lam)
            now = minimized(loss, now, tolerance)
            value, without = float(problem.evaluate(now[0][:, None])[0]), without + 1
            if value > highest:
                best, highest, without = now, value, 0
        return *best, highest, len(seen)

    distinct, place = np.unique(lams, return_inverse=True)
    found = [one(lam) for lam in distinct.tolist()]
    weights, intercepts, values, steps = (
        np.stack([each[part] for each in found], axis=-1) for part in range(4)
    )
    return Found(weights[:, place], intercepts[place], values[place], steps[place])


def cross_entropy(matrix: Matrix, target: Array, weight: Array, lam: float) -> Loss:
    """Return the weighted mean cross-entropy of X w + b plus λ‖w‖², with its gradient by (w, b)."""
    if isinstance(matrix, np.ndarray) and matrix.size <= _SMALL:
        matrix = matrix.astype(np.float64)
    share = weight / weight.sum()

    def loss(parameters: Array) -> tuple[float, Array]:
        w, b = parameters[:-1], parameters[-1]
        scores = np.asarray(matrix @ w.astype(matrix.dtype), np.float64) + b
        value = share @ (np.logaddexp(0, scores) - target * scores) + lam * (w @ w)
        errors = share * (expit(scores) - target)
        by_weight = np.asarray(matrix.T @ errors.astype(matrix.dtype), np.float64)
        return float(value), np.append(by_weight + 2 * lam * w, errors.sum())

    return loss


def minimized(loss: Loss, start: tuple[Array, float], tolerance: float) -> tuple[Array, float]:
    """Minimize a loss of (w, b) by L-BFGS, until no entry of its gradient is above a tolerance."""
    options = {"maxiter": _MOST, "maxfun": 2 * _MOST, "gtol": tolerance, "ftol": 0.0}
    found = minimize(loss, np.append(*start), jac=True, method="L-BFGS-B", options=options)
    return found.x[:-1], float(found.x[-1])
