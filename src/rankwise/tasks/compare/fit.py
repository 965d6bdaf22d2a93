"""One candidate with its options, fitted on some rows and judged by others."""

from __future__ import annotations

import json
import math
import tempfile
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankwise.estimators
from rankwise.estimators import Ranker
from rankwise.estimators.limits import part_of_time, time_limit
from rankwise.report import write_json
from rankwise.report.files import read_arrays, write_arrays
from rankwise.tasks.compare.candidates import CLASSES, Candidate
from rankwise.tasks.compare.model import (
    Member,
    Model,
    apply_ranks,
    load_model,
    mean_of_ranks,
    renamed,
)
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.search_space import length_of, shortest

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

SMALL = 50_000  # rows from which several threads pay for trees


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of rows that the model has not seen."""

    scores: Floats
    ranked: Floats  # the same as log-odds of ranks, to be averaged with those of other models
    value: float  # of the metric
    cut: bool = False  # whether the training was ended by the time, not by itself


def ranker_of(
    candidate: Candidate,
    params: Mapping[str, Any],
    *,
    metric: str,
    seed: int,
    rows: int,
    text: tuple[str, ...] = (),
    short: bool = False,
) -> Ranker:
    """The estimator of a candidate, to be fitted on so many rows, as long as usual or shortly."""
    made: Ranker = getattr(rankwise.estimators, CLASSES[candidate.model])(
        objective=candidate.objective, metric=metric, random_state=seed, **params
    )
    known = made.get_params()
    made.set_params(**(shortest(known) if short else length_of(known, rows)))
    if text:
        made.set_params(text=text)
    if "n_jobs" in known and rows < SMALL:
        made.set_params(n_jobs=1)
    return made


def fit_members(
    candidate: Candidate,
    params: Mapping[str, Any],
    problem: Problem,
    rows: Rows,
    seeds: range,
    *,
    short: bool = False,
) -> tuple[Member, ...]:
    """One fitted ranker per seed."""
    table = problem.table
    features = table.of(rows)
    # Log-loss knows two classes: of relevances, some and none.
    target = table.target[rows] > 0 if candidate.is_log_loss else table.target[rows]
    made = []
    for place, seed in enumerate(seeds):
        ranker = ranker_of(
            candidate,
            params,
            metric=problem.metric,
            seed=seed,
            rows=len(rows),
            text=table.reading.text,
            short=short,
        )
        with part_of_time(len(seeds) - place), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a poor fit shows in its validation
            ranker.fit(
                features,
                target.astype(np.float64 if table.graded else np.int64),
                groups=problem.groups(rows),
                sample_weight=problem.weight(rows),
            )
        made.append(Member.of(ranker, features))
    return tuple(made)


def scored(members: tuple[Member, ...], problem: Problem, rows: Rows) -> tuple[Floats, Floats]:
    """Scores of some rows by the mean of the members, and the same as log-odds of ranks."""
    features = problem.table.of(rows)
    each = [member.scores(features) for member in members]
    knots = [member.knots for member in members]
    ranked = np.mean([apply_ranks(k, s) for k, s in zip(knots, each, strict=True)], axis=0)
    return mean_of_ranks(each, knots), ranked


def judge(
    candidate: Candidate,
    params: Mapping[str, Any],
    problem: Problem,
    split: tuple[Rows, Rows],
    seeds: range,
    *,
    seconds: float = math.inf,
) -> Judged:
    """Fit on the first rows of a split for at most ``seconds``, judge by the others."""
    fitted, judged = split
    with time_limit(seconds) as limit:
        members = fit_members(candidate, params, problem, fitted, seeds)
    scores, ranked = scored(members, problem, judged)
    return Judged(scores, ranked, problem.value(scores, judged), limit.reached)


@dataclass(frozen=True, eq=False)
class Finished:
    """What a candidate came to: chosen options, scores of every split, scores of the test part."""

    candidate: Candidate
    params: dict[str, Any]
    trials: int
    seconds: float
    curve: list[list[float]]
    judged: tuple[Judged, ...]
    test: Floats
    test_ranked: Floats
    probability: Floats
    model: Model
    cut: bool = False  # whether a training of it was ended by the time

    @property
    def values(self) -> list[float]:
        """The metric on every split."""
        return [each.value for each in self.judged]

    @property
    def mean(self) -> float:
        """What candidates are chosen by."""
        return float(np.mean(self.values))


def save_finished(folder: Path, finished: Finished) -> None:
    """Write into a folder of its own, which is there whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
        made = Path(name) / "candidate"
        made.mkdir()
        record = {
            "name": finished.candidate.name,
            "params": finished.params,
            "trials": finished.trials,
            "seconds": finished.seconds,
            "curve": finished.curve,
            "values": finished.values,
            "cut": finished.cut,
        }
        write_json(made / "result.json", record)
        arrays = {
            "test": finished.test,
            "test_ranked": finished.test_ranked,
            "probability": finished.probability,
        }
        for number, each in enumerate(finished.judged):
            arrays |= {f"scores_{number}": each.scores, f"ranked_{number}": each.ranked}
        write_arrays(made / "scores.npz", arrays)
        finished.model.save(made / "model")
        renamed(made, folder)


def load_finished(folder: Path, candidate: Candidate) -> Finished | None:
    """What :func:`save_finished` wrote; None where there is nothing, or nothing whole."""
    try:
        record = json.loads((folder / "result.json").read_text())
        arrays = read_arrays(folder / "scores.npz")
        judged = tuple(
            Judged(arrays[f"scores_{number}"], arrays[f"ranked_{number}"], value)
            for number, value in enumerate(record["values"])
        )
        return Finished(
            candidate=candidate,
            params=record["params"],
            trials=record["trials"],
            seconds=record["seconds"],
            curve=record["curve"],
            judged=judged,
            test=arrays["test"],
            test_ranked=arrays["test_ranked"],
            probability=arrays["probability"],
            model=load_model(folder / "model"),
            cut=record["cut"],
        )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def ensemble(candidate: Candidate, parts: Sequence[Finished], problem: Problem) -> Finished:
    """The candidate that is the mean of the ranks of others, which are done."""
    judged = []
    for number, (_, rows) in enumerate(problem.plan.splits[: len(parts[0].judged)]):
        mean: Floats = np.mean([part.judged[number].ranked for part in parts], axis=0)
        judged.append(Judged(mean, mean, problem.value(mean, rows)))
    test: Floats = np.mean([part.test_ranked for part in parts], axis=0)
    first = parts[0].model
    members = tuple(member for part in parts for member in part.model.members)
    about = {**first.about, "candidate": candidate.name}
    return Finished(
        candidate=candidate,
        params={},
        trials=sum(part.trials for part in parts),
        seconds=sum(part.seconds for part in parts),
        curve=[],
        judged=tuple(judged),
        test=test,
        test_ranked=test,
        probability=np.mean([part.probability for part in parts], axis=0),
        model=replace(first, members=members, about=about),
        cut=any(part.cut for part in parts),
    )
