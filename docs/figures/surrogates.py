"""The pairwise losses, and what turns their sums into a metric."""

from __future__ import annotations

import torch
from matplotlib.figure import Figure

from docs.figures.frame import COLORS, INK, figure, label, panels
from rankwise import pairs
from rankwise.pairs import Surrogate

_CONVEX = (pairs.SquaredHinge(1.0), pairs.Hinge(1.0), pairs.Logistic(1.0), pairs.Exponential(1.0))
_AP = (pairs.OneSidedHuber(1.0), pairs.OneSidedSigmoid(0.3), pairs.Sigmoid(2.0))


def _curves(of: str) -> Figure:
    canvas, both = panels(2, height=3.1)
    x = torch.linspace(-2, 2, 161, dtype=torch.double)
    for axes, losses, title in zip(both, (_CONVEX, _AP), ("convex", "AP and counts"), strict=True):
        for loss, color in zip(losses, COLORS, strict=False):
            axes.plot(x, getattr(loss, of)(x), color=color, label=_name(loss))
        if of == "value":
            axes.plot(x, pairs.ZeroOne().value(x), color=INK, linewidth=1.2, linestyle="--")
            axes.set_ylim(-0.2, 4.2)
        else:
            axes.set_ylim(-4.2, 0.2)
        axes.legend(loc="upper right" if of == "value" else "lower right")
        label(axes, "x = score of the upper − lower", "ℓ(x)" if of == "value" else "ℓ′(x)", title)
    return canvas


def _name(loss: Surrogate) -> str:
    return type(loss).__name__


@figure("surrogates")
def surrogates() -> Figure:
    return _curves("value")


@figure("surrogate-slopes")
def surrogate_slopes() -> Figure:
    return _curves("derivative")
