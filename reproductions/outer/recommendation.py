"""Recommendation: matrix factorization of a published split, cosines, whole catalog."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from zipfile import ZipFile

from rankwise.data import DataError
from rankwise.data.interactions import Interactions, join_parts, read_interactions
from rankwise.tasks.recommendation import Settings, evaluate, measure_of, prepared, train
from rankwise.tasks.recommendation.batches import Batches
from reproductions.outer.arms import RECOMMENDATION
from reproductions.outer.problem import Arm, Outcome, Problem

FILES = {"Health": "amazon2014-health", "Electronic": "amazon2014-electronic"}
METRIC = "ndcg@20"
_PARTS = ("train.tsv", "test.tsv")


def recommendation_problems(
    folder: Path, names: tuple[str, ...], settings: Settings
) -> list[Problem]:
    """Problems of published splits in ``folder``/recommendation, as zip files or folders."""
    if unknown := [name for name in names if name not in FILES]:
        raise ValueError(f"recommendation sets must be of {', '.join(FILES)}, got {unknown[0]!r}")
    root = folder / "recommendation"
    return [interaction_problem(n, _reader(root / FILES[n]), settings) for n in names]


def interaction_problem(name: str, read: Callable[[], Interactions], settings: Settings) -> Problem:
    """Problem of interactions; the seed draws the validation part, and without it the test."""

    def run(arm: Arm, seed: int, test: bool) -> Outcome:
        asked = settings.replace(
            scores="cosine",
            temperature=arm.temperature,
            weighting=arm.weighting,
            metric=METRIC,
            warm_start=0,
            refit=False,
            seed=seed,
        )
        problem = prepared(read(), asked)
        steps = settings.epochs * Batches(problem.pairs((0,)), asked, single=False).steps
        trained = train(problem, asked.replace(objective=arm.objective_of(steps)))
        if not test:
            return Outcome(trained.value)
        seen = problem.pairs((0, 1), positive=False)
        measure = measure_of(METRIC)
        found = evaluate(trained.network.scores(), problem.pairs((2,)), seen, [measure])
        return Outcome(trained.value, found.means()[str(measure)].value)

    return Problem(RECOMMENDATION, name, "NDCG@20", run)


def _reader(path: Path) -> Callable[[], Interactions]:
    @lru_cache(maxsize=1)
    def read() -> Interactions:
        if path.is_dir():
            return _joined(path)
        archive = path.with_suffix(".zip")
        if not archive.is_file():
            raise DataError(f"{path}: neither this folder nor {archive.name} is there")
        with tempfile.TemporaryDirectory() as folder, ZipFile(archive) as held:
            for part in _PARTS:
                held.extract(part, folder)
            return _joined(Path(folder))

    return read


def _joined(folder: Path) -> Interactions:
    train_part, test_part = (read_interactions(folder / part) for part in _PARTS)
    return join_parts(train_part, test=test_part)
