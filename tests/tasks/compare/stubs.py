"""A ranker that is fitted in a millisecond, in place of the real ones, and tables for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from optuna.distributions import FloatDistribution

import rankwise.estimators
from rankwise.estimators.base import Ranker
from rankwise.tasks.compare import candidates
from rankwise.tasks.compare.budget import Cost
from rankwise.tasks.compare.candidates import CLASSES
from rankwise.tasks.compare.problem import Problem, read_problem
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.trial import Trials

__all__ = [
    "StubRanker",
    "evaluate_split",
    "problem",
    "replace_models",
    "settings",
    "stubbed",
    "table",
]


class StubRanker(Ranker):
    """Ridge regression; on a metric the positives weigh as much as the negatives."""

    def __init__(
        self,
        objective: str = "ap",
        *,
        alpha: float = 1.0,
        metric: str | None = None,
        threshold: str | float = 0.5,
        calibration: Any = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
        text: Any = None,
    ) -> None:
        super().__init__(
            objective,
            metric=metric,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
            text=text,
        )
        self.alpha = alpha

    def _fit_scores(self, data: Any) -> None:
        rows, y = np.asarray(data.train.X), data.train.target > 0
        weight = np.ones(len(y))
        if self.objective != "log_loss":
            weight[y] = (~y).sum() / y.sum()
        centered = rows - np.average(rows, axis=0, weights=weight)
        square = (centered * weight[:, None]).T @ centered + self.alpha * np.eye(rows.shape[1])
        self.coef_ = np.linalg.solve(square, (centered * weight[:, None]).T @ y)

    def _scores(self, rows: Any) -> Any:
        return np.asarray(rows) @ self.coef_

    def _state(self) -> Any:
        return {"coef": self.coef_}

    def _restore(self, state: Any) -> None:
        self.coef_ = state["coef"]


def replace_models(monkeypatch):
    """Make all three kinds of models the stub."""
    monkeypatch.setattr(rankwise.estimators, "StubRanker", StubRanker, raising=False)
    span = FloatDistribution(1e-3, 1e3, log=True)
    for kind in CLASSES:
        monkeypatch.setitem(candidates.CLASSES, kind, "StubRanker")
        monkeypatch.setitem(candidates.SPACES, kind, {"alpha": span})
        monkeypatch.setitem(candidates.METRIC_SPACES, kind, {})


@pytest.fixture
def stubbed(monkeypatch):
    """All three kinds of models are the stub."""
    replace_models(monkeypatch)


def table(rows: int = 600, seed: int = 0) -> pl.DataFrame:
    """Numbers with gaps, words, a group, a time and a class of about a tenth."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    signal = x[:, 0] + 0.5 * x[:, 1] ** 2 + rng.normal(size=rows)
    return pl.DataFrame(
        {
            "a": x[:, 0],
            "b": np.where(x[:, 1] > 2, np.nan, x[:, 1]),
            "c": x[:, 2],
            "word": rng.choice(["red", "green", "blue"], rows),
            "user": rng.integers(rows // 12, size=rows),
            "day": np.arange(rows),
            "y": (signal > np.quantile(signal, 0.9)).astype(int),
        }
    ).with_columns(pl.col("b").fill_nan(None))


def settings(folder: Any, **options: Any) -> Settings:
    """Asked of a small table, which is written into a folder."""
    path = folder / "table.csv"
    if not path.exists():
        table().write_csv(path)
    given = {"target": "y", "candidates": "linear", "trials": 3, "drop": ("user", "day")}
    return Settings(data=path, **{**given, **options})


def evaluate_split(candidate: Any, params: Any, here: Problem, split: Any, seeds: range) -> Any:
    """The scores of a split, without a limit of time."""
    trials = Trials(candidate, here, Cost(0.0, 0.0, 0.0))
    return trials.evaluate(params, split, seeds, math.inf)


def problem(folder: Any, **options: Any) -> Problem:
    """The same, read and split."""
    return read_problem(settings(folder, **options))
