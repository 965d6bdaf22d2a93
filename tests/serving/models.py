"""Small models of every kind, on a table with numbers, gaps, words, dates and text."""

from __future__ import annotations

import datetime
from functools import cache

import numpy as np
import polars as pl

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, PApAtKRanker, Ranker

WORDS = ["red", "green", "blue", "a b", "ü"]
TEXTS = ["late night order", "Late LATE gift", "night shift", "gift", "", "order of a gift order"]


def table(rows: int = 400, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    """Return rows and targets; every column but the last number has gaps."""
    rng = np.random.default_rng(seed)
    gap = rng.random((rows, 5)) < 0.1
    x, z = rng.normal(size=rows), rng.normal(size=rows)
    word = rng.integers(0, len(WORDS), rows)
    hours = rng.integers(0, 24 * 700, rows)
    start = datetime.datetime(2023, 1, 1, 3, 20, 10, 5)
    when = [start + datetime.timedelta(hours=int(h)) for h in hours]
    text = rng.integers(0, len(TEXTS), rows)
    frame = pl.DataFrame(
        {
            "x": [None if g else float(v) for g, v in zip(gap[:, 0], x, strict=True)],
            "word": [None if g else WORDS[v] for g, v in zip(gap[:, 1], word, strict=True)],
            "when": [None if g else v for g, v in zip(gap[:, 2], when, strict=True)],
            "note": [None if g else TEXTS[v] for g, v in zip(gap[:, 3], text, strict=True)],
            "z": z.tolist(),
        }
    )
    y = x + (word == 2) + (hours % 24 > 18) + (text < 2) + rng.normal(size=rows) > 2
    return frame, y


def plain_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that ONNX takes: all but the text."""
    return frame.drop("note")


@cache
def fitted(name: str, *, text: bool = True) -> Ranker:
    """Return a ranker that was fitted on the table, with or without the column of text."""
    frame, y = table()
    trees = {"n_estimators": 12, "n_jobs": 1, "min_child_samples": 3, "random_state": 0}
    options = {"text": ["note"] if text else None}
    made: dict[str, Ranker] = {
        "linear": LinearRanker(max_iter=20, random_state=0, **options),
        "isotonic": LinearRanker(max_iter=20, calibration="isotonic", random_state=0, **options),
        "uncalibrated": LinearRanker(max_iter=20, calibration=None, random_state=0, **options),
        "papk": PApAtKRanker(max_iter=20, random_state=0),
        "lightgbm": BoostedRanker(**trees, **options),
        "large trees": BoostedRanker(
            **{**trees, "min_child_samples": 1}, num_leaves=150, blend=1.0, **options
        ),
        "xgboost": BoostedRanker(**trees, engine="xgboost", **options),
        "folds": BoostedRanker(**trees, folds=2, threshold="f1", **options),
        "neural": NeuralRanker(
            hidden=(8, 4), epochs=2, warm_start_epochs=1, random_state=0, **options
        ),
    }
    return made[name].fit(frame if text else plain_columns(frame), y)


NUMPY = ["linear", "isotonic", "uncalibrated", "papk", "lightgbm", "large trees", "xgboost"]
NUMPY += ["folds"]


def unseen(rows: int = 300) -> pl.DataFrame:
    """Return other rows, with words that no fit has seen."""
    frame, _ = table(rows, seed=1)
    odd = pl.Series(["never seen" if n % 7 == 0 else None for n in range(rows)], dtype=pl.String)
    return frame.with_columns(word=pl.coalesce(odd, "word"))
