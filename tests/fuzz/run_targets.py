"""The readers of what rankwise wrote: estimators, trees, and the files of run folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna
import polars as pl
import torch
from safetensors.torch import save
from tests.fuzz.target import Target, json_seeds, npz_seeds, sealed_json_seeds, text_seeds
from tests.tasks.recommendation.cases import settings as recommender_settings
from tests.tasks.recommendation.cases import two_kinds
from tests.training.toy import Toy
from torch import nn

from rankwise import estimators
from rankwise.boosting.engines import with_lightgbm, with_xgboost
from rankwise.data.reading import Reading, Rule
from rankwise.distributed import load_sharded, save_sharded
from rankwise.errors import UsageError, foreign_errors
from rankwise.estimators import LinearRanker, Ranker, _files
from rankwise.files import write_json
from rankwise.objectives import SOPRC
from rankwise.report.comparison import run_files as comparison
from rankwise.seals import METADATA, sealed
from rankwise.serving import load_scorer
from rankwise.serving.trees.read import read_trees
from rankwise.serving.trees.tables import TreeTables
from rankwise.tasks.compare.model import Member, Model, load_model
from rankwise.tasks.compare.search import _done
from rankwise.tasks.compare.storage import STUDY, open_storage
from rankwise.tasks.compare.trial_seals import seal_trial
from rankwise.tasks.recommendation import load_run, prepared
from rankwise.tasks.recommendation.results import write_model as write_recommender
from rankwise.tasks.recommendation.training import new_model
from rankwise.tasks.retrieval.index import read_index
from rankwise.training import RunFolder, command_of
from rankwise.training.checkpoint import load_checkpoint, save_checkpoint
from rankwise.vision import files as vision

_X = np.random.default_rng(0).normal(size=(2000, 4))
_X[:, 3] = np.arange(2000) % 10  # LightGBM splits categories of some hundred rows only
_Y = (_X[:, 0] + 2 * np.sin(5 * _X[:, 3]) > 0.5).astype(float)


def _boosted(name: str) -> Callable[[Path], list[bytes]]:
    def make(folder: Path) -> list[bytes]:
        made = []
        for categories in ((), (3,)):
            trees = with_lightgbm.Trees(0.1, 6, 2, 1.0, 1.0, 1.0, 1, 0, categories)
            rows = with_lightgbm.Rows(_Y, None, None, _X)
            engine = {"lightgbm": with_lightgbm.LightGBM, "xgboost": with_xgboost.XGBoost}[name]
            grown = engine(trees, rows, None, 0.0)
            for _ in range(3):
                grown.grow(lambda s, _: (1 / (1 + np.exp(-s)) - _Y, np.full(len(_Y), 0.25)))
            made.append(grown.text().encode())
        return made

    return make


def _score(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        engine = {"lightgbm": with_lightgbm.LightGBM, "xgboost": with_xgboost.XGBoost}[name]
        text = (folder / "trees").read_bytes().decode(errors="replace")
        scores = engine.read(text, 1)
        with foreign_errors("scores"):  # other columns than those of the rows are an error of both
            return scores(_X)

    return read


def _tables(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        text = (folder / "trees").read_bytes().decode(errors="replace")
        with foreign_errors("trees in numpy"):
            trees = read_trees(name, text)
            if trees.columns != _X.shape[1]:
                raise ValueError("other columns")
            return TreeTables(trees)(_X[:50])

    return read


def _rankers(folder: Path) -> list[bytes]:
    frame = pl.DataFrame({"a": _X[:, 0], "b": ["u", "v"] * 1000, "c": _X[:, 1]})
    made = []
    for ranker in (
        LinearRanker("auc", random_state=0, max_iter=5),
        estimators.BoostedRanker("auc", random_state=0, n_estimators=3),
    ):
        path = ranker.fit(frame.to_pandas(), _Y).save(folder / "seed.ranker")
        made.append(Path(path).read_bytes())
    return made


def _state(folder: Path) -> list[bytes]:
    return [sealed(save({"weight": torch.ones(2, 3), "bias": torch.zeros(2)}, METADATA))]


def _checkpoint(folder: Path) -> list[bytes]:
    _files.Checkpoint(folder / "a.pt", {"x": 1}).save({"w": torch.ones(3), "n": 2, "t": "text"})
    return [(folder / "a.pt").read_bytes()]


def _model_folder(folder: Path) -> None:
    X = _X[:60, :3]
    ranker = LinearRanker(random_state=0).fit(X, (X[:, 0] > 0.5).astype(int))
    reading = Reading(tuple(Rule(f"f{n}", "numeric") for n in range(3)))
    about: dict[str, str | None] = {"target": "y", "candidate": "linear"}
    made = Model((Member.of(ranker, X),), reading, about).save(folder / "model")
    for path in made.iterdir():
        path.rename(folder / path.name)


def _made_by(around: Callable[[Path], None], name: str) -> Callable[[Path], list[bytes]]:
    """Return the seeds of a file that is made with those around it."""

    def make(folder: Path) -> list[bytes]:
        around(folder)
        return [(folder / name).read_bytes()]

    return make


def _recommender(folder: Path) -> None:
    chosen = recommender_settings()
    problem = prepared(two_kinds(), chosen)
    torch.manual_seed(0)
    write_json(folder / "config.json", {"data": "a", "settings": chosen.model_dump()})
    write_recommender(folder, problem, new_model(problem, chosen))


def _study(folder: Path) -> list[bytes]:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with open_storage(folder / STUDY) as storage:
        study = optuna.create_study(storage=storage, study_name="a", direction="maximize")
        for value in (0.5, 0.7):
            trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
            trial.set_user_attr("seconds", 1.0)
            seal_trial(trial, value, optuna.trial.TrialState.COMPLETE)
            study.tell(trial, value)
    return [(folder / STUDY).read_bytes()]


def _read_study(folder: Path) -> object:
    for name in (f"{STUDY}-journal", f"{STUDY}-wal"):
        (folder / name).unlink(missing_ok=True)  # of the input before this one
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with open_storage(folder / STUDY) as storage:
        found = optuna.create_study(
            storage=storage, study_name="a", direction="maximize", load_if_exists=True
        )
        return _done(found)


def _run_checkpoint(folder: Path) -> list[bytes]:
    task = Toy()
    with RunFolder(folder / "run", "toy").opened() as run:
        save_checkpoint(run, task, {"network": task.network.state_dict()})
    return [(folder / "run" / "checkpoint.pt").read_bytes()]


class _Unsealed:
    """A run folder of which only the checkpoint is left: its SHA-256 is that of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()


def _shards(folder: Path) -> list[bytes]:
    save_sharded(SOPRC(prior=0.1), folder / "shards")
    return [next((folder / "shards").glob("*.json")).read_bytes()]


def _load_shards(folder: Path) -> object:
    try:
        return load_sharded(SOPRC(prior=0.1), folder)
    except ValueError as error:  # the library's own kind of error there
        if type(error) is ValueError and str(folder) in str(error):
            raise UsageError(str(error)) from error
        raise


def _shard_folder(folder: Path) -> None:
    save_sharded(SOPRC(prior=0.1), folder)


RUNS: dict[str, Target] = {
    "lightgbm": Target("trees", _boosted("lightgbm"), _score("lightgbm")),
    "xgboost": Target("trees", _boosted("xgboost"), _score("xgboost")),
    "lightgbm_tables": Target("trees", _boosted("lightgbm"), _tables("lightgbm")),
    "xgboost_tables": Target("trees", _boosted("xgboost"), _tables("xgboost")),
    "scorer": Target("a.ranker", _rankers, lambda f: load_scorer(f / "a.ranker")),
    "ranker": Target("a.ranker", _rankers, lambda f: Ranker.load(f / "a.ranker")),
    "compare_model": Target(
        "model.json", _made_by(_model_folder, "model.json"), load_model, _model_folder
    ),
    "pairs": Target(
        "pairs.safetensors", _made_by(_recommender, "pairs.safetensors"), load_run, _recommender
    ),
    "ids": Target("ids.json", _made_by(_recommender, "ids.json"), load_run, _recommender),
    "study": Target(STUDY, _study, _read_study, slow=True),
    "run_checkpoint": Target(
        "checkpoint.pt",
        _run_checkpoint,
        lambda f: load_checkpoint(_Unsealed(f), Toy()),  # type: ignore[arg-type]
    ),
    "index": Target(
        "a.npz",
        npz_seeds(
            embeddings=np.eye(3, dtype=np.float32),
            paths=np.array(list("abc")),
            labels=np.array(list("xyx")),
            network=np.array("f"),
        ),
        lambda f: read_index(f / "a.npz"),
    ),
    "report_json": Target(
        "config.json",
        json_seeds({"a": [1, {"b": "c"}], "n": 2.5}),
        lambda f: comparison.read_object(f / "config.json"),
    ),
    "predictions": Target(
        "a.npz",
        npz_seeds(
            target=np.array([0.0, 1, 1]), score_0=np.arange(3.0), probability_0=np.ones(3) / 2
        ),
        lambda f: comparison.read_predictions(f / "a.npz", 1),
    ),
    "run_json": Target(
        "run.json",
        sealed_json_seeds(
            {
                "format": 1,
                "command": "rankwise rank",
                "version": "0.1",
                "finished": True,
                "parts": {"a": ["b"]},
            }
        ),
        command_of,
    ),
    "safetensors": Target(
        "model.safetensors", _state, lambda f: vision.load_state(f, lambda state: nn.Linear(3, 2))
    ),
    "checkpoint": Target(
        "a.pt", _checkpoint, lambda f: _files.Checkpoint(f / "a.pt", {"x": 1}).load()
    ),
    "split": Target(
        "split.csv",
        text_seeds("path,label,part\na.png,x,train\nb.png,y,test\n"),
        vision.read_split,
    ),
    "shards": Target("memory.index.json", _shards, _load_shards, _shard_folder),
}
