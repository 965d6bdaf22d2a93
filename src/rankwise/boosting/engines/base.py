"""What a booster must be able to do, and what its trees look like."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from rankwise.boosting.rows import Floats, Rows

__all__ = ["Engine", "EngineName", "Table", "Trees"]

EngineName = Literal["lightgbm", "xgboost"]


@dataclass(frozen=True)
class Trees:
    """How trees are grown, in LightGBM's words."""

    learning_rate: float
    num_leaves: int
    min_child_samples: int
    subsample: float  # share of the rows for each tree
    colsample: float  # share of the columns for each tree
    reg: float  # λ/2 · (leaf value)²
    n_jobs: int
    seed: int
    categories: tuple[int, ...] = ()  # places of the columns whose numbers are categories


@dataclass(frozen=True)
class Table:
    """Features, dense or a CSR array, and what is known of the rows."""

    X: Any
    rows: Rows


class Engine(ABC):
    """Trees on some rows, one after the other; ``start`` is the score before the first."""

    name: ClassVar[EngineName]

    @abstractmethod
    def __init__(self, trees: Trees, train: Table, held_out: Table | None, start: float) -> None:
        """Prepare the rows; ``held_out`` are those that :meth:`value` judges."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """Trees there are."""

    @abstractmethod
    def grow(self, gradient: Callable[[Floats, Rows], tuple[Floats, Floats]]) -> bool:
        """One more tree; False where no leaf could be split any more."""

    @abstractmethod
    def value(self, judge: Callable[[Floats], float]) -> float:
        """What ``judge`` says of the scores of the rows held out."""

    @abstractmethod
    def cut(self, rounds: int) -> None:
        """Take back all trees but the first so many."""

    @abstractmethod
    def text(self) -> str:
        """The trees in the booster's own format."""

    @classmethod
    @abstractmethod
    def read(cls, text: str, n_jobs: int) -> Callable[[Any], Floats]:
        """What scores rows by the trees of a text, without ``start``."""

    @classmethod
    @abstractmethod
    def gains(cls, text: str, columns: int) -> Floats:
        """How much the splits of the trees of a text on each column have gained in all."""
