"""Trees: ours, log-loss in its forms, and the rankers of LightGBM and XGBoost."""

from __future__ import annotations

import math
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from benchmarks.tabular.fits import Fit, Remembered, fitted, mean, weighted
from benchmarks.tabular.sets import Parts

from rankwise.boosting.engines import EngineName
from rankwise.estimators import BoostedRanker
from rankwise.estimators.data import Floats, Part
from rankwise.estimators.names import metric_value

__all__ = ["AP", "PARTIAL"]

ROUNDS, PATIENCE, LONGEST = 500, 50, 1000
"""Trees at most, trees without a better metric, rows of a random list."""


def trees(objective: str | None = None, engine: EngineName = "lightgbm", **options: Any) -> Fit:
    """BoostedRanker with its own options; None: the objective of the metric."""
    return fitted(
        lambda metric: BoostedRanker(
            objective or metric,
            metric=metric,
            n_estimators=ROUNDS,
            early_stopping_rounds=PATIENCE,
            engine=engine,
            n_jobs=1,
            **options,
        )
    )


def random_lists(part: Part) -> tuple[Part, list[int]]:
    """The rows in random order and the lengths of lists of them: rankers refuse one long list."""
    order = np.random.default_rng(0).permutation(len(part))
    sizes = [len(rows) for rows in np.array_split(order, math.ceil(len(part) / LONGEST))]
    return part.rows(order), sizes


def lambdarank(parts: Parts, metric: str, seed: int) -> Floats:
    (train, sizes), (_, valid, test) = random_lists(parts[0]), parts
    params = {
        "objective": "lambdarank",
        "metric": "none",
        "learning_rate": 0.1,
        "num_leaves": 31,
        "min_data_in_leaf": 20,
        "num_threads": 1,
        "verbosity": -1,
        "seed": seed,
        "lambdarank_truncation_level": LONGEST,
    }
    data = lgb.Dataset(train.X, train.target, group=sizes, params=params)
    held = lgb.Dataset(valid.X, valid.target, reference=data, group=[len(valid)])
    booster = lgb.train(
        params,
        data,
        ROUNDS,
        valid_sets=[held],
        feval=lambda scores, _: ("metric", metric_value(metric, scores, valid), True),
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    return np.asarray(booster.predict(test.X), dtype=np.float64)


def rank_map(parts: Parts, metric: str, seed: int) -> Floats:
    (train, sizes), (_, valid, test) = random_lists(parts[0]), parts
    params = {
        "objective": "rank:map",
        "disable_default_eval_metric": True,
        "learning_rate": 0.1,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": 31,
        "min_child_weight": 1e-3,
        "nthread": 1,
        "seed": seed,
        "verbosity": 0,
    }
    data = xgb.DMatrix(train.X, train.target)
    data.set_group(sizes)
    held = xgb.DMatrix(valid.X, valid.target)
    booster = xgb.train(
        params,
        data,
        ROUNDS,
        evals=[(held, "valid")],
        custom_metric=lambda scores, _: ("metric", metric_value(metric, scores, valid)),
        maximize=True,
        early_stopping_rounds=PATIENCE,
        verbose_eval=False,
    )
    last = booster.best_iteration + 1
    return np.asarray(booster.predict(xgb.DMatrix(test.X), iteration_range=(0, last)), float)


plain = Remembered(trees("log_loss"))
bagged = trees("log_loss", subsample=0.8)

AP: dict[str, Fit] = {
    "log-loss": plain,
    'BoostedRanker("ap")': trees(),
    'BoostedRanker("ap", blend=1)': trees(blend=1.0),
    "mean of two log-losses": mean(plain, bagged),
    "class-weighted log-loss": weighted(trees("log_loss")),
    "focal": trees("focal"),
    "LightGBM lambdarank": lambdarank,
    "XGBoost log-loss": trees("log_loss", "xgboost"),
    'BoostedRanker("ap", engine="xgboost")': trees(engine="xgboost"),
    "XGBoost rank:map": rank_map,
}

PARTIAL: dict[str, Fit] = {
    "log-loss": plain,
    'BoostedRanker("opauc(max_fpr=.05)")': trees(),
    "the same, blend=1": trees(blend=1.0),
    "mean of two log-losses": mean(plain, bagged),
    "class-weighted log-loss": weighted(trees("log_loss")),
    "LightGBM lambdarank": lambdarank,
}
