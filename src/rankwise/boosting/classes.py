"""Gradients of several classes: softmax log-loss, and any gradient of each class against the rest.

Scores have the shape (rows, classes); the target of the rows is the number of their class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from rankwise.boosting.gradient import Gradient
from rankwise.boosting.rows import Floats, Rows


def softmax_gradient(scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
    """Return gradient and curvature of Σ weight · log-loss of the softmax.

    The curvature is p(1 − p) times C/(C − 1), as in LightGBM: the step of one class is not undone
    by those of the others.
    """
    classes = scores.shape[1]
    p: Floats = softmax(scores, axis=1)
    gradient = p.copy()
    gradient[np.arange(len(p)), rows.target.astype(np.int64)] -= 1
    curvature = classes / (classes - 1) * p * (1 - p)
    if rows.weight is not None:
        gradient *= rows.weight[:, None]
        curvature *= rows.weight[:, None]
    return gradient, np.maximum(curvature, 1e-16)


@dataclass(frozen=True, eq=False)
class OneVsRestGradient:
    """A gradient of two classes for each class against the rest, by the scores of the class.

    The trees of a class have its own gradient and curvature, so that its step depends neither on
    its size nor on the other classes: the minimum of the macro mean is that of every class.
    """

    gradient: Gradient

    def __call__(self, scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return gradient and curvature of all classes."""
        found = [
            self.gradient(
                np.ascontiguousarray(scores[:, c]),
                replace(rows, target=(rows.target == c).astype(np.float64)),
            )
            for c in range(scores.shape[1])
        ]
        gradients, curvatures = zip(*found, strict=True)
        return np.stack(gradients, axis=1), np.stack(curvatures, axis=1)
