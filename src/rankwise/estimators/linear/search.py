"""L-BFGS for a loss of the scores of a linear model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from rankwise.estimators.linear.design import Design
from rankwise.estimators.linear.fixed import Loss
from rankwise.estimators.time_limit import time_is_up

__all__ = ["search"]

_Vector = NDArray[np.float64]


def search(
    design: Design,
    loss: Loss,
    start: _Vector,
    *,
    ridge: float,
    about: _Vector,
    max_iter: int,
    tolerance: float,
) -> tuple[_Vector, int]:
    """Minimize loss(Z w + b) + ridge/2 · ‖w − about‖² over (w, b); the steps it took.

    ``start`` is w, or w with the intercept b behind it. Without b it is a ranking, which no
    constant changes. It ends early where the time is up.
    """
    function = _value_and_gradient(design, loss, ridge, about)
    least = max(1e-3 * tolerance, float(np.finfo(design.matrix.dtype).eps))  # below it is rounding
    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=_end_in_time,
        options={"maxiter": max_iter, "gtol": tolerance, "ftol": least},
    )
    best: _Vector = np.asarray(found.x, dtype=np.float64)
    return best, int(found.nit)


def _end_in_time(intermediate_result: Any) -> None:
    """Between two iterations; scipy ends a search at this exception, and asks for this name."""
    if time_is_up():
        raise StopIteration


def _value_and_gradient(
    design: Design, loss: Loss, ridge: float, about: _Vector
) -> Callable[[_Vector], tuple[float, _Vector]]:
    columns = design.columns

    def function(parameters: _Vector) -> tuple[float, _Vector]:
        weights, intercept = parameters[:columns], parameters[columns:]
        product = design.scores(weights)
        if len(intercept):
            product = product + product.dtype.type(intercept[0])
        scores = torch.from_numpy(np.ascontiguousarray(product)).requires_grad_()
        value = loss(scores)
        (gradient,) = torch.autograd.grad(value, scores)
        by_score = gradient.numpy()
        away = weights - about
        whole = np.empty_like(parameters)
        whole[:columns] = design.gradient(by_score) + ridge * away
        whole[columns:] = by_score.sum(dtype=np.float64)
        return value.item() + 0.5 * ridge * float(away @ away), whole

    return function
