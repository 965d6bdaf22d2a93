"""Fit a candidate on some rows, evaluate it on others, and keep what it came to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import rankwise.estimators
from rankwise.data.disk import DiskFeatures
from rankwise.estimators import Ranker
from rankwise.estimators.limits import part_of_time
from rankwise.files import read_npz, whole_folder, write_npz, write_whole
from rankwise.seals import read_sealed_json, sealed_json
from rankwise.settings import MAX_SEED
from rankwise.tasks.compare.candidates import (
    CLASSES,
    SECOND,
    SHORTEST,
    Candidate,
    Params,
    length_of,
)
from rankwise.tasks.compare.metrics import Floats
from rankwise.tasks.compare.model import Member, Model, load_model, mean_rank
from rankwise.tasks.compare.problem import Problem, Rows

ON_DISK = 100_000  # rows from which they stay on disk while a ranker learns from them
SMALL = 50_000  # rows from which several threads pay for trees
_RECORD = ("params", "trials", "seconds", "curve", "cut")
_ARRAYS = ("test", "test_ranked", "probability")


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores of the validation rows of a split, which the model has not seen."""

    scores: Floats
    ranked: Floats  # the same as log-odds of ranks, to be averaged with those of other models
    value: float  # of the metric
    cut: bool = False  # whether the training was ended by the time limit


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted candidate: chosen options, scores of every split, scores of the test part."""

    candidate: Candidate
    params: Params
    trials: int
    seconds: float
    curve: list[list[float]]
    folds: tuple[FoldScores, ...]
    test: Floats
    test_ranked: Floats
    probability: Floats
    model: Model
    cut: bool = False  # whether one of its trainings was ended by the time limit

    @property
    def values(self) -> list[float]:
        """The metric on every split."""
        return [each.value for each in self.folds]

    @property
    def mean(self) -> float:
        """The mean of the metric over the splits, which candidates are chosen by."""
        return float(np.mean(self.values))


def ranker_of(
    candidate: Candidate, params: Params, rows: int, *, short: bool = False, **options: object
) -> Ranker:
    """Return the estimator of a candidate for ``rows`` training rows, of usual or short length."""
    kind = getattr(rankwise.estimators, CLASSES[candidate.model])
    made: Ranker = kind(objective=candidate.objective, **options, **params)
    known = made.get_params()
    if candidate.second:
        made.set_params(**{name: value for name, value in SECOND.items() if name in known})
    length = {n: SHORTEST[n] for n in SHORTEST if n in known} if short else length_of(known, rows)
    made.set_params(**length)
    if "n_jobs" in known and rows < SMALL:
        made.set_params(n_jobs=1)
    return made


def fit_members(
    candidate: Candidate,
    params: Params,
    problem: Problem,
    rows: Rows,
    seeds: range,
    *,
    short: bool = False,
) -> tuple[Member, ...]:
    """Fit one ranker per seed."""
    table, truth = problem.table, problem.truth(rows)
    features = table.of(rows)
    # LightGBM has its bins in memory, XGBoost reads them from disk.
    external = problem.settings.out_of_core and candidate.model == "boosted"
    more = {"engine": "xgboost"} if external else {}
    if isinstance(features, DiskFeatures) and len(rows) < ON_DISK:
        features = features.frame()
    # Log-loss knows two classes: of relevances, some and none.
    of_two = candidate.is_log_loss and not table.classes
    target = truth.target > 0 if of_two else truth.target
    y = target.astype(np.float64 if table.graded else np.int64)
    shared = {"metric": problem.metric, "text": table.reading.text or None, **more}
    made = []
    if candidate.second:  # the seeds after those of the first fits
        seeds = range(seeds.start + problem.settings.seeds, seeds.stop + problem.settings.seeds)
    for place, seed in enumerate(seeds):
        ranker = ranker_of(
            candidate, params, len(rows), short=short, random_state=seed % (MAX_SEED + 1), **shared
        )
        with part_of_time(len(seeds) - place), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a poor fit shows in its validation
            if isinstance(features, DiskFeatures):
                ranker.fit_parquet(
                    features.path,
                    y,
                    rows=features.rows,
                    weight=truth.weight,
                    groups=truth.groups,
                    drop=features.others,
                )
            else:
                ranker.fit(features, y, groups=truth.groups, sample_weight=truth.weight)
        made.append(Member.of(ranker, features))
    return tuple(made)


def scored(members: tuple[Member, ...], problem: Problem, rows: Rows) -> tuple[Floats, Floats]:
    """Return scores of some rows by the mean of the members, and as log-odds of ranks."""
    features = problem.table.of(rows)
    each = [member.scores(features) for member in members]
    ranked = mean_rank(members, each)
    return each[0] if len(each) == 1 else ranked, ranked


def fold_arrays(folds: Sequence[FoldScores]) -> dict[str, Floats]:
    """Return the scores and values of splits as named arrays."""
    return {
        "values": np.array([each.value for each in folds]),
        "cut": np.array([each.cut for each in folds]),
        **{f"scores_{n}": each.scores for n, each in enumerate(folds)},
        **{f"ranked_{n}": each.ranked for n, each in enumerate(folds)},
    }


def folds_of(arrays: Mapping[str, Floats]) -> tuple[FoldScores, ...]:
    """Return the splits whose arrays :func:`fold_arrays` named."""
    known = enumerate(zip(arrays["values"].tolist(), arrays["cut"].tolist(), strict=True))
    return tuple(
        FoldScores(arrays[f"scores_{n}"], arrays[f"ranked_{n}"], value, bool(cut))
        for n, (value, cut) in known
    )


def save_candidate(folder: Path, fitted: Fitted) -> None:
    """Write into a folder of its own, which is there whole or not at all."""
    with whole_folder(folder) as made:
        record = {key: getattr(fitted, key) for key in ("values", *_RECORD)}
        content = sealed_json({"name": fitted.candidate.name, **record})
        write_whole(made / "result.json", content)
        arrays = {key: getattr(fitted, key) for key in _ARRAYS}
        write_npz(made / "scores.npz", arrays | fold_arrays(fitted.folds))
        fitted.model.save(made / "model")


def load_candidate(folder: Path, candidate: Candidate) -> Fitted | None:
    """Read what :func:`save_candidate` wrote; None where there is nothing, or nothing whole."""
    try:
        record = read_sealed_json((folder / "result.json").read_bytes())
        arrays = read_npz(folder / "scores.npz")
        known = {key: record[key] for key in _RECORD} | {key: arrays[key] for key in _ARRAYS}
        model = load_model(folder / "model")
        return Fitted(candidate=candidate, folds=folds_of(arrays), model=model, **known)
    except Exception:  # whatever is wrong with it, it is made anew
        return None


def ensemble(candidate: Candidate, parts: Sequence[Fitted], problem: Problem) -> Fitted:
    """Average the ranks of candidates that are fitted."""
    folds = []
    for number, (_, rows) in enumerate(problem.plan.splits[: len(parts[0].folds)]):
        mean: Floats = np.mean([part.folds[number].ranked for part in parts], axis=0)
        folds.append(FoldScores(mean, mean, problem.value(mean, rows)))
    test: Floats = np.mean([part.test_ranked for part in parts], axis=0)
    first = parts[0].model
    members = tuple(member for part in parts for member in part.model.members)
    about = {**first.about, "candidate": candidate.name}
    return Fitted(
        candidate=candidate,
        params={},
        trials=sum(part.trials for part in parts),
        seconds=sum(part.seconds for part in parts),
        curve=[],
        folds=tuple(folds),
        test=test,
        test_ranked=test,
        probability=np.mean([part.probability for part in parts], axis=0),
        model=replace(first, members=members, about=about),
        cut=any(part.cut for part in parts),
    )
