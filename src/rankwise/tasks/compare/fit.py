"""One candidate with its options, fitted on some rows and judged by others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankwise.estimators
from rankwise.estimators import Ranker
from rankwise.estimators.limits import part_of_time, time_limit
from rankwise.tasks.compare.candidates import CLASSES, Candidate
from rankwise.tasks.compare.model import Member, mean_of_ranks
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.ranks import apply_ranks
from rankwise.tasks.compare.spaces import length_of, shortest

__all__ = ["Judged", "fit_members", "judge", "ranker_of", "scored"]

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
