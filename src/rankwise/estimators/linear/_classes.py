"""The linear model of more than two classes: multinomial log-loss, then the mean over classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import cross_entropy

from rankwise.boosting.disk import DiskMatrix
from rankwise.estimators._classes import log_odds
from rankwise.estimators.data import Floats, Part, Vector
from rankwise.estimators.linear._search import Design, _end_in_time, fixed_at, spread_of
from rankwise.estimators.names import is_of_classes, make_stateless
from rankwise.naming import objective as named_objective
from rankwise.objectives import AveragePrecision

Loss = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class ClassDesign:
    """The design matrix with a weight vector and an intercept per class.

    Parameters are one vector: the weights of all classes, (columns, classes) by rows, and then the
    intercepts.
    """

    design: Design
    classes: int

    @property
    def size(self) -> int:
        """Number of parameters."""
        return (self.design.columns + 1) * self.classes

    def split(self, parameters: Vector) -> tuple[Vector, Vector]:
        """Return weights (columns, classes) and intercepts (classes,)."""
        columns = self.design.columns
        return parameters.reshape(columns + 1, -1)[:columns], parameters[-self.classes :]

    def logits(self, parameters: Vector) -> Floats:
        """Return Z W + b, (rows, classes)."""
        weights, intercepts = self.split(parameters)
        if isinstance(self.design.matrix, DiskMatrix):
            product = np.stack([self.design.scores(w) for w in weights.T], axis=1)
        else:
            product = self.design.scores(weights)
        return product + intercepts.astype(product.dtype)

    def gradient(self, by_logit: Floats) -> Vector:
        """Return the gradient by the parameters of a function with this gradient by the logits."""
        if isinstance(self.design.matrix, DiskMatrix):
            columns = np.ascontiguousarray(by_logit.T)
            slope = np.stack([self.design.gradient(column) for column in columns], axis=1)
        else:
            slope = self.design.gradient(by_logit)
        return np.concatenate([slope.ravel(), by_logit.sum(0, dtype=np.float64)])

    def unscaled(self, parameters: Vector) -> tuple[Vector, Vector]:
        """Return coefficients (classes, columns) and intercepts for X itself."""
        weights, intercepts = self.split(parameters)
        found = [self.design.unscaled(w, b) for w, b in zip(weights.T, intercepts, strict=True)]
        coefficients, shifts = zip(*found, strict=True)
        return np.stack(coefficients), np.array(shifts)

    def search(
        self, loss: Loss, start: Vector, ridge: float | Vector, *, max_iter: int, tolerance: float
    ) -> tuple[Vector, int]:
        """Minimize loss(Z W + b) + Σ_c ridge_c/2 · ‖w_c − w₀_c‖²; return parameters and steps.

        The intercepts have no ridge. ``start`` has w₀; the search ends early where time is up.
        """
        first, _ = self.split(start)

        def value_and_gradient(parameters: Vector) -> tuple[float, Vector]:
            logits = torch.from_numpy(self.logits(parameters)).requires_grad_()
            value = loss(logits)
            (gradient,) = torch.autograd.grad(value, logits)
            away = self.split(parameters)[0] - first
            whole = self.gradient(gradient.numpy())
            whole[: away.size] += (ridge * away).ravel()
            return value.item() + 0.5 * float((ridge * away**2).sum()), whole

        rounding = float(np.finfo(self.design.matrix.dtype).eps)
        found = minimize(
            value_and_gradient,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=_end_in_time,
            options={
                "maxiter": max_iter,
                "gtol": tolerance,
                "ftol": max(1e-3 * tolerance, rounding),
            },
        )
        return np.asarray(found.x, dtype=np.float64), int(found.nit)


def multinomial_log_loss(part: Part) -> Loss:
    """Return the weighted mean log-loss of the softmax as a function of the logits."""
    target = torch.from_numpy(part.target).long()
    weight = None if part.weight is None else torch.from_numpy(part.weight)
    total = float(len(target)) if weight is None else float(weight.sum())

    def loss(logits: Tensor) -> Tensor:
        losses = cross_entropy(logits, target, reduction="none").double()
        return (losses if weight is None else losses * weight).sum() / total

    return loss


def class_loss(
    name: str, logits: Floats, part: Part, proximity: float
) -> tuple[Loss, float | Vector]:
    """Return an objective as a function of the logits, near those given, and its ridge per class.

    The classes are lists of all rows, ranked by the log-odds of the class. As in the model of two
    classes, the scores of average precision are in units of their spread, and so is the ridge.
    """
    target = torch.from_numpy(part.target).long()
    weight = None if part.weight is None else torch.from_numpy(part.weight)
    if is_of_classes(name):
        module = named_objective(name)
        return lambda now: module(now, target, weight=weight), proximity
    count, classes = logits.shape
    objective = make_stateless(name)
    hot = (target.unsqueeze(0) == torch.arange(classes).unsqueeze(1)).flatten()
    groups = torch.arange(classes).repeat_interleave(count)
    masses = None if weight is None else weight.repeat(classes)
    odds = log_odds(torch.from_numpy(logits))
    spread = torch.ones(classes, dtype=odds.dtype)
    if isinstance(objective, AveragePrecision) and objective.score_scale == "auto":
        spreads = [spread_of(column, part.weight) for column in odds.T.numpy()]
        spread = torch.tensor(spreads, dtype=odds.dtype)
    start = (odds / spread).T.flatten()
    kept = fixed_at(objective, start, hot, masses, groups)
    ridge: Vector = proximity / spread.numpy().astype(np.float64) ** 2
    return lambda now: kept((log_odds(now) / spread).T.flatten()), ridge
