"""One small run of every kind that writes a report, on generated data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import torch
from tests.report.comparison.sample import arrays, results, write_run
from tests.tasks.classification import cases as classification
from tests.tasks.contrast import cases as contrast
from tests.tasks.detection import cases as detection
from tests.tasks.ranking.cases import written
from tests.tasks.recommendation import cases as recommendation
from tests.tasks.retrieval import cases as retrieval

from rankwise.data.letor import read_letor
from rankwise.report.comparison.report import write_report
from rankwise.tasks.classification import pipeline as classify_task
from rankwise.tasks.compare import pipeline as compare_task
from rankwise.tasks.compare.settings import Settings as CompareSettings
from rankwise.tasks.contrast import pipeline as contrast_task
from rankwise.tasks.detection import pipeline as detect_task
from rankwise.tasks.ranking import Settings as RankingSettings
from rankwise.tasks.ranking import run as rank_run
from rankwise.tasks.recommendation import prepared
from rankwise.tasks.recommendation import run as recommend_run
from rankwise.tasks.retrieval import pipeline as retrieval_task
from reproductions.frame import Setting, run_study

CPU = torch.device("cpu")


def compare(out: Path) -> Path:
    held = arrays(2000, 0.05)
    return write_report(write_run(out, held, results(held)))


def compare_classes(out: Path) -> Path:
    """Fourteen classes, more than there are colors."""
    out.parent.mkdir(parents=True, exist_ok=True)
    rng, labels = np.random.default_rng(0), [f"kind number {n}" for n in range(14)]
    place = np.arange(700) % 14
    x = rng.normal(size=(700, 4)) + rng.normal(size=(14, 4))[place]
    frame = pl.DataFrame({f"x{n}": x[:, n] for n in range(4)})
    path = out.parent / "kinds.parquet"
    frame.with_columns(kind=pl.Series([labels[n] for n in place])).write_parquet(path)
    asked = {"candidates": "linear:log_loss,linear:auc", "trials": 1, "budget": 60, "metric": "auc"}
    found = compare_task.run(CompareSettings(data=path, target="kind", **asked), out)
    assert found is not None
    return found.report


def recommend(out: Path) -> Path:
    chosen = recommendation.settings(objective="pap@2", warm_start=1)
    problem = prepared(recommendation.two_kinds(40, 30, 8), chosen)
    return recommend_run(problem, chosen, out, metrics=["ndcg@3", "recall@3"]).report


def rank(out: Path) -> Path:
    out.mkdir(parents=True)
    train, test = (
        read_letor(written(out.parent / f"{out.name}-{name}.txt", queries, seed=seed))
        for seed, (name, queries) in enumerate({"train": 24, "test": 40}.items())
    )
    return rank_run(RankingSettings(model="linear"), out, train, test=test).report


def retrieve(out: Path) -> Path:
    return _there(retrieval_task.run(retrieval.splits(), retrieval.settings(), out, device=CPU))


def classify(out: Path) -> Path:
    parts = classification.splits((24, 16, 8, 4))
    return _there(classify_task.run(parts, classification.settings(), out, device=CPU))


def detect(out: Path) -> Path:
    return _there(detect_task.run(detection.splits(), detection.settings(), out, device=CPU))


def contrasted(out: Path) -> Path:
    out.parent.mkdir(parents=True, exist_ok=True)
    return _there(contrast_task.run(contrast.images(out.parent), contrast.SETTINGS, out))


def study(out: Path) -> Path:
    path, _ = run_study("saturation", out, Setting(draws=2, options={"steps": 40}))
    return path


def _there(done) -> Path:
    assert done.report is not None
    return done.report


KINDS: dict[str, Callable[[Path], Path]] = {
    "compare": compare,
    "compare-classes": compare_classes,
    "recommend": recommend,
    "rank": rank,
    "retrieval": retrieve,
    "classify": classify,
    "detect": detect,
    "contrast": contrasted,
    "study": study,
}
"""By name, what writes a report into a folder that is not there yet."""
