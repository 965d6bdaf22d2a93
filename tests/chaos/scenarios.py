"""A small training of every command: seconds at most, and the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import lightning_fabric  # noqa: F401  (before the fork)
import numpy as np
import tests.tasks.classification.cases as of_classification
import tests.tasks.contrast.cases as of_contrast
import tests.tasks.detection.cases as of_detection
import tests.tasks.ranking.cases as of_ranking
import tests.tasks.ranking.click_simulator as of_clicks
import tests.tasks.recommendation.cases as of_recommendation
import tests.tasks.retrieval.cases as of_retrieval
from sqlalchemy.orm import configure_mappers

from rankwise.data.letor import read_letor
from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, Ranker
from rankwise.tasks import classification, compare, contrast, detection, ranking, recommendation
from rankwise.tasks import retrieval as retrieving
from rankwise.tasks.classification import pipeline as _a  # noqa: F401  (before the fork)
from rankwise.tasks.compare import pipeline as _b  # noqa: F401
from rankwise.tasks.detection import pipeline as _c  # noqa: F401
from rankwise.tasks.ranking.clicks import learn_from_clicks
from rankwise.tasks.recommendation import pipeline as _d  # noqa: F401
from rankwise.tasks.retrieval import pipeline as _e  # noqa: F401

configure_mappers()  # of optuna's tables, once for all children

Work = Callable[[Path, Path, bool], None]
Contents = dict[str, bytes]


@dataclass(frozen=True)
class Scenario:
    """A training: its command, and what it does with a folder of data, one of the run, resume."""

    command: str
    work: Work
    read: Callable[[Path], Contents]
    workers: bool = False  # it starts processes that load data

    def __str__(self) -> str:
        return self.command


def contents(folder: Path) -> Contents:
    """The bytes of every file, by its name in the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


TIMED = ("run.json", "timing.json", "study.db", "tables.csv", "index.html", "importance.json")
"""Files of ``rankwise compare`` that record seconds, or digests of such files."""


def comparison(folder: Path) -> Contents:
    """The files of a comparison without the seconds in them: it is given a time, not steps."""
    found = {name: held for name, held in contents(folder).items() if name not in TIMED}
    for name in [each for each in found if each.startswith("trials/")]:
        # The number of a trial counts those that were stopped before it.
        with np.load(folder / name) as arrays:
            kept = [each for each in arrays.files if each != "number"]
            found[name] = b"".join(arrays[each].tobytes() for each in kept)
    for name in [each for each in found if each.endswith(("results.json", "result.json"))]:
        known = json.loads(found[name])
        found[name] = json.dumps(_without_time(known)).encode()
    return found


def _without_time(value: object) -> object:
    if isinstance(value, dict):
        timed = ("seconds", "curve", "seal", "importance")
        return {name: _without_time(part) for name, part in value.items() if name not in timed}
    return [_without_time(each) for each in value] if isinstance(value, list) else value


def _classify(workers: int) -> Work:
    def work(data: Path, out: Path, resume: bool) -> None:
        chosen = of_classification.settings("training.steps=4")
        splits = of_classification.splits()
        classification.run(splits, chosen, out, resume=resume, workers=workers)

    return work


def _retrieval(data: Path, out: Path, resume: bool) -> None:
    chosen = of_retrieval.settings("training.steps=4")
    retrieving.run(of_retrieval.splits(), chosen, out, resume=resume)


def _detect(data: Path, out: Path, resume: bool) -> None:
    detection.run(of_detection.splits(3), of_detection.settings(), out, resume=resume)


def _contrast(data: Path, out: Path, resume: bool) -> None:
    path = data / "stripes.npz"
    if not path.exists():
        of_contrast.write(path)
    contrast.run(contrast.read_images(path), of_contrast.SETTINGS, out, resume=resume)


def _rank(options: dict[str, object]) -> Work:
    def work(data: Path, out: Path, resume: bool) -> None:
        files = [data / f"{name}.txt" for name in ("train", "validation")]
        for seed, path in enumerate(files):
            if not path.exists():
                of_ranking.written(path, seed=seed, queries=8)
        parts = [read_letor(path) for path in files]
        settings = ranking.Settings(**options)
        ranking.run(settings, out, *parts, resume=resume)

    return work


def _rank_clicks(data: Path, out: Path, resume: bool) -> None:
    if not (data / "clicks.csv").exists():
        of_clicks.write(data, *of_clicks.simulated(queries=8, sessions=20))
    settings = ranking.Settings(
        model="linear", objective="listnet(linear)", metric=of_clicks.METRIC
    )
    lists = read_letor(data / "lists.txt", judged=False)
    learned, model = learn_from_clicks(lists, data / "clicks.csv", None)
    ranking.run(settings, out, learned, metrics=[of_clicks.METRIC], clicks=model, resume=resume)


def _recommend(**options: object) -> Work:
    def work(data: Path, out: Path, resume: bool) -> None:
        small = {"model": "ease", "metric": "ndcg@3"} if options else of_recommendation.SMALL
        chosen = recommendation.Settings(**{**small, **options})
        problem = recommendation.prepared(of_recommendation.two_kinds(), chosen)
        recommendation.run(problem, chosen, out, resume=resume)

    return work


def _compare(data: Path, out: Path, resume: bool) -> None:
    path = data / "table.csv"
    if not path.exists():
        rng = np.random.default_rng(0)
        x = rng.normal(size=(160, 3))
        y = (x[:, 0] + rng.normal(size=160) > 0.7).astype(int)
        rows = [f"{a:.4f},{b:.4f},{c:.4f},{t}" for (a, b, c), t in zip(x, y, strict=True)]
        path.write_text("a,b,c,y\n" + "\n".join(rows) + "\n")
    settings = compare.Settings(
        data=path, target="y", candidates="linear:log_loss,linear:ap", trials=1, budget=3600
    )
    compare.run(settings, out, resume=resume)


def _estimator(ranker: Ranker) -> Work:
    def work(data: Path, out: Path, resume: bool) -> None:
        x = np.random.default_rng(0).normal(size=(80, 3))
        out.mkdir(exist_ok=True)
        state = out / "state.pt"
        ranker.fit(x, (x[:, 0] > 0.5).astype(int), checkpoint=state)
        ranker.save(out / "model.ranker")

    return work


def _saved(folder: Path) -> Contents:
    """The files of an estimator; what a killed process left is hidden and is in nobody's way."""
    return {name: held for name, held in contents(folder).items() if not name.startswith(".")}


_MLP = {"model": "mlp", "options": {"hidden": [4], "epochs": 2}}
_TREES = {"model": "boosted", "options": {"n_estimators": 4}}
SCENARIOS = {
    each.command: each
    for each in (
        Scenario("classify train", _classify(0), contents),
        Scenario("classify train, 2 workers", _classify(2), contents, workers=True),
        Scenario("retrieval train", _retrieval, contents),
        Scenario("detect train", _detect, contents),
        Scenario("contrast train", _contrast, contents),
        Scenario("rank train, linear", _rank({"model": "linear"}), contents),
        Scenario("rank train, mlp", _rank(_MLP), contents),
        Scenario("rank train, boosted", _rank(_TREES), contents),
        Scenario("rank train, clicks", _rank_clicks, contents),
        Scenario("recommend train", _recommend(), contents),
        Scenario("recommend train, closed form", _recommend(model="ease"), contents),
        Scenario("compare", _compare, comparison),
        Scenario("LinearRanker.fit", _estimator(LinearRanker(random_state=0)), _saved),
        Scenario(
            "BoostedRanker.fit",
            _estimator(BoostedRanker(n_estimators=4, folds=2, engine="xgboost", random_state=0)),
            _saved,
        ),
        Scenario(
            "NeuralRanker.fit",
            _estimator(NeuralRanker(hidden=(4,), epochs=2, random_state=0)),
            _saved,
        ),
    )
}
