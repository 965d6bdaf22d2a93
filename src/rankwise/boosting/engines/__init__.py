"""The boosters behind one interface: grow a tree, evaluate it, remove trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rankwise.boosting.gradient import Gradient
from rankwise.boosting.rows import Floats, Matrix, Rows
from rankwise.checks import require_one_of
from rankwise.extras import require

EngineName = Literal["lightgbm", "xgboost"]


@dataclass(frozen=True)
class Trees:
    """Settings of the trees, in LightGBM's terms."""

    learning_rate: float
    num_leaves: int
    min_child_samples: int
    subsample: float  # share of the rows for each tree
    colsample: float  # share of the columns for each tree
    reg: float  # λ/2 · (leaf value)²
    n_jobs: int  # threads; 0: one per processor
    seed: int
    categories: tuple[int, ...] = ()  # places of the columns whose numbers are categories
    outputs: int = 1  # scores of a row, each with its own tree in every round


class Engine(ABC):
    """Trees on some rows, one after the other; ``start`` is the score before the first.

    With several outputs a round is a tree for each of them; scores, gradients and curvatures have
    the shape (rows, outputs), and ``start`` has a score for each.
    """

    @abstractmethod
    def __init__(
        self, trees: Trees, train: Rows, held_out: Rows | None, start: float | Floats
    ) -> None:
        """Prepare the rows; ``held_out`` are those that :meth:`value` evaluates."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """Number of rounds: of trees, where there is one output."""

    @abstractmethod
    def grow(self, gradient: Gradient) -> bool:
        """Grow one more tree; return False where no leaf could be split."""

    @abstractmethod
    def value(self, evaluate: Callable[[Floats], float]) -> float:
        """Return ``evaluate`` of the scores of the rows held out."""

    @abstractmethod
    def cut(self, rounds: int) -> None:
        """Remove all trees but the first ``rounds``."""

    @abstractmethod
    def text(self) -> str:
        """Return the trees in the booster's own format."""

    @classmethod
    @abstractmethod
    def read(cls, text: str, n_jobs: int, outputs: int = 1) -> Callable[[Matrix], Floats]:
        """Return a function that scores rows by the trees of a text, without ``start``."""

    @classmethod
    @abstractmethod
    def gains(cls, text: str, columns: int, outputs: int = 1) -> Floats:
        """Return the total gain of the splits on each column."""


def engine_of(name: EngineName) -> type[Engine]:
    """Return the class of an engine; the package it needs is named where it is missing."""
    require_one_of("engine", name, ("lightgbm", "xgboost"))
    require("rankwise.boosting", name)
    if name == "lightgbm":
        from rankwise.boosting.engines.with_lightgbm import LightGBM  # noqa: PLC0415

        return LightGBM
    from rankwise.boosting.engines.with_xgboost import XGBoost  # noqa: PLC0415

    return XGBoost


Stage: TypeAlias = tuple[Gradient, int]
"""The gradient of some trees, and the total number of trees that it ends at."""


def boost(
    engine: Engine,
    stages: Sequence[Stage],
    evaluate: Callable[[Floats], float] | None = None,
    patience: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> float:
    """Grow the trees of all stages and return the best value of ``evaluate`` (maximized).

    With ``evaluate`` every stage ends after ``patience`` trees without improvement, and goes back
    to the best round. The next stage starts there, so a later stage can only improve the value.
    ``stop`` is asked after every tree and ends its stage.
    """
    best, kept = float("-inf"), 0
    for gradient, until in stages:
        while engine.rounds < until:
            if not engine.grow(gradient):
                break
            if evaluate is None:
                kept = engine.rounds
            else:
                value = engine.value(evaluate)
                if value > best:
                    best, kept = value, engine.rounds
                elif patience is not None and engine.rounds - kept >= patience:
                    break
            if stop():
                break
        engine.cut(kept)
    return best
