"""The interface of a recommender, and of those that are fitted in closed form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import product
from typing import ClassVar, Self

from torch import nn

from rankwise.tasks.recommendation.catalog import Scorer
from rankwise.tasks.recommendation.problem import Pairs, Problem
from rankwise.tasks.recommendation.settings import Settings


class Model(nn.Module, ABC):
    """A recommender, whose state is what ``model.safetensors`` has."""

    @classmethod
    @abstractmethod
    def new(cls, problem: Problem, settings: Settings, learned: Pairs) -> Self:
        """A model before training; ``learned`` are the positives that it may know of."""

    @abstractmethod
    def scores(self) -> Scorer:
        """The scores of every user for the whole catalog."""

    @classmethod
    def check(cls, n_items: int) -> None:
        """Raise where the model cannot be made for a catalog of this size."""


class ClosedForm(Model):
    """A recommender without gradients: fitted on pairs, for every value of a small grid.

    A subclass is made of the pairs and the settings, with a state of the right shapes that
    :meth:`fits` fills.
    """

    grid: ClassVar[dict[str, tuple[float, ...]]]  # settings that validation chooses, with values

    @abstractmethod
    def __init__(self, learned: Pairs, settings: Settings) -> None:
        super().__init__()

    @classmethod
    def new(cls, problem: Problem, settings: Settings, learned: Pairs) -> Self:
        return cls(learned, settings)

    @classmethod
    @abstractmethod
    def fits(cls, train: Pairs, settings: Settings) -> Iterator[tuple[Settings, Self]]:
        """Fit on pairs; yield the model with its settings.

        Where a fit passes several models that the settings leave open, it yields each of them.
        """

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """Names of the settings that belong to a model."""
        return tuple(cls.grid)

    @classmethod
    def candidates(cls, settings: Settings) -> Iterator[Settings]:
        """Every combination of the values of the grid that the settings leave open."""
        asked = {name: getattr(settings, name) for name in cls.grid}
        values = [cls.grid[name] if given is None else (given,) for name, given in asked.items()]
        for chosen in product(*values):
            yield settings.replace(**dict(zip(cls.grid, chosen, strict=True)))
