"""What came of a training or of a search: for the console, ``results.json`` and the report."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from rankwise.files import nan_to_none
from rankwise.report import Section, Table
from rankwise.report.elements import Markup
from rankwise.report.plots import line_chart
from rankwise.report.verdict import Validation, Verdict, lower_rate, verdict
from rankwise.tasks.recommendation.model import Model
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.settings import Settings


@dataclass(frozen=True)
class Outcome(ABC):
    """A model, and one row for everything that was compared on validation to choose it."""

    network: Model
    history: list[dict[str, float]]
    best: int  # number of the row from 1; 0: the start, where nothing was as good
    start: float = math.nan  # the metric on validation before
    settings: Settings = field(default_factory=Settings)  # with what was chosen

    @property
    def value(self) -> float:
        """The metric of the best row on validation."""
        return self.history[self.best - 1][self.settings.metric] if self.best else self.start

    @abstractmethod
    def record(self) -> dict[str, object]:
        """What ``results.json`` has of it."""

    @abstractmethod
    def course(self) -> str:
        """What was compared and chosen, in words."""

    @abstractmethod
    def verdict(self) -> Verdict:
        """How the model compares with the start, on validation."""

    @abstractmethod
    def section(self) -> Section:
        """The section of the report."""


@dataclass(frozen=True)
class Trained(Outcome):
    """The network, and one row for every epoch of the training by which it was chosen."""

    network: Recommender
    tried: dict[float, float] = field(default_factory=dict)  # temperatures, and the metric of each
    refit_steps: int = 0  # of the training on training and validation part; 0: there was none

    @property
    def warm(self) -> int:
        """Epochs of the warm start."""
        return sum(row["warm_start"] == 1 for row in self.history)

    def record(self) -> dict[str, object]:
        return {
            "best_epoch": self.best,
            "epochs": len(self.history),
            "warm_start_epochs": self.warm,
            "temperature": self.settings.temperature,
            "temperatures": {f"{t:g}": value for t, value in self.tried.items()},
            "refit_steps": self.refit_steps,
        }

    def course(self) -> str:
        """Which epoch was kept, and whether it was one of the objective."""
        metric = self.settings.metric
        if self.best == 0:
            return (
                f"Trained for {len(self.history)} epochs; none was as good on validation as the "
                f"initial model ({metric} {self.start:.4f}), which is kept."
            )
        said = (
            f"Trained for {len(self.history)} epochs; epoch {self.best} has the best validation "
            f"{metric}, {self.value:.4f}{', and is the model' * (not self.refit_steps)}."
        )
        if self.warm:
            said += f" The first {self.warm} epochs were a warm start with softmax."
            if self.best <= self.warm:
                said += f" {self.settings.objective} did not improve it on validation."
        if self.tried:
            tried = ", ".join(f"{t:g} ({v:.4f})" for t, v in sorted(self.tried.items()))
            said += (
                f" Temperature {self.network.temperature:g} was chosen from {tried}. A change of "
                "temperature must improve the metric by more than one standard error."
            )
        if self.refit_steps:
            said += (
                f" The model was then trained again for {self.refit_steps} steps, as many as it "
                "took to reach that epoch, on the training and validation parts."
            )
        return said

    def verdict(self) -> Verdict:
        settings = self.settings
        values = [row[settings.metric] for row in self.history]
        advice = [lower_rate("--learning-rate", settings.learning_rate)]
        if settings.weight_decay:
            advice.append(f"less weight decay, --weight-decay {settings.weight_decay / 10:g}")
        if settings.objective != "softmax" and not settings.warm_start:
            advice.append("a warm start by softmax, --warm-start 20")
        return verdict(
            settings.metric,
            validation=Validation(self.start, values, self.best, "epoch"),
            advice=advice,
        )

    def section(self) -> Section:
        return Section("Training", [self.course()], figures=[self._curve()])

    def _curve(self) -> Markup:
        metric, warm = self.settings.metric, self.warm
        values = [row[metric] for row in self.history]
        epochs = range(1, len(values) + 1)
        lines = {metric: (epochs, values)}
        if 0 < warm < len(values):
            first = {"softmax, a warm start": (epochs[:warm], values[:warm])}
            lines = first | {self.settings.objective: (epochs[warm - 1 :], values[warm - 1 :])}
        words = (
            f"{metric} on validation over {len(values)} epochs, from {values[0]:.4f} to "
            f"{values[-1]:.4f}; the epoch that was kept is marked."
        )
        y, kept = f"{metric}, validation", (self.best, self.value)
        return line_chart("epoch", y, lines, words, kept=kept)


@dataclass(frozen=True)
class Searched(Outcome):
    """A model in closed form, and one row for every combination of its hyperparameters.

    ``start`` is the metric of popularity.
    """

    @property
    def chosen(self) -> dict[str, float]:
        """The hyperparameters."""
        row = self.history[self.best - 1]
        return {name: value for name, value in row.items() if name != self.settings.metric}

    def record(self) -> dict[str, object]:
        return {
            "chosen": self.chosen,
            "tried": nan_to_none(self.history),
            "popularity_on_validation": nan_to_none(self.start),
            "refit": bool(self.settings.refit),
        }

    def course(self) -> str:
        words = ", ".join(f"{name} {value:g}" for name, value in self.chosen.items())
        said = f"{self.settings.model} with {words}: {self.settings.metric} {self.value:.4f} "
        said += "on validation"
        if len(self.history) > 1:
            said += f", the best of {len(self.history)} combinations"
        if self.settings.refit:
            return f"{said}. The model was then fitted on the training and the validation part."
        return f"{said}."

    def verdict(self) -> Verdict:
        how = "better than" if self.value > self.start else "no better than"
        text = (
            f"{how} popularity: validation {self.settings.metric} is {self.value:.4f}, and "
            f"{self.start:.4f} for popularity"
        )
        given = [f"--{name.replace('_', '-')}" for name in self.chosen]
        advice = (f"other values of {' and '.join(given)}", "another --model")
        return Verdict(text, () if self.value > self.start else advice)

    def section(self) -> Section:
        names = list(self.history[0])
        rows = [
            tuple(f"{v:.4f}" if n == self.settings.metric else f"{v:g}" for n, v in row.items())
            for row in self.history
        ]
        return Section("Hyperparameters", [self.course()], tables=[Table(names, rows)])
