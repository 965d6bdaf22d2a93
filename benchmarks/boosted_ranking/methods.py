"""One fit of every method: trees until NDCG@10 of the validation queries is at its best."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from benchmarks.boosted_ranking.folds import Floats, Split
from benchmarks.objectives import PEERS

from rankwise.boosting import lightgbm_objective

GRID = [(0.05, 31), (0.1, 7)]  # learning rate and leaves, the same for all
ROUNDS, PATIENCE = 150, 30
NOISE, BLEND = 1.0, 0.2


@dataclass(frozen=True)
class Fit:
    """The best trees of one setting: their NDCG@10 of the validation part, and all scores."""

    value: float
    rounds: int
    setting: str
    held_out: Floats
    test: Floats


Method = Callable[[Split], list[Fit]]
"""A fold → one fit for each setting."""


def lightgbm_fits(params: dict[str, Any], **ours: Any) -> Method:
    """Trees of LightGBM, by its own objective or (``ours``) by one of this library."""

    def fits(parts: Split) -> list[Fit]:
        return [_lightgbm(parts, setting, params, ours) for setting in GRID]

    return fits


def _lightgbm(
    parts: Split, setting: tuple[float, int], params: dict[str, Any], ours: dict[str, Any]
) -> Fit:
    train, held_out, test, seed = parts
    rate, leaves = setting
    own: Any = lightgbm_objective(**ours, seed=seed) if ours else None
    params = {"objective": "none", "metric": "none", **params, "seed": seed, "num_threads": 1}
    params |= {"learning_rate": rate, "num_leaves": leaves, "verbosity": -1}
    params |= {"deterministic": True, "force_row_wise": True}
    start = None
    if own is not None:  # the log-odds that the cross-entropy of y/max y starts from
        share = float((train.y / train.y.max()).mean())
        start = np.full(len(train.y), np.log(share / (1 - share)))
    data = lgb.Dataset(train.x, train.y, group=train.sizes, init_score=start, params=params)
    booster = lgb.Booster(params, data)
    booster.add_valid(lgb.Dataset(held_out.x, held_out.y, reference=data), "held out")

    def grow(_: int) -> None:
        booster.update(fobj=own)

    def value() -> float:
        found = booster.eval_valid(lambda scores, _: ("ndcg", held_out.value(scores), True))
        return float(found[0][2])

    best, rounds = _stopped(grow, value)
    scores: list[Any] = [
        booster.predict(p.x, num_iteration=rounds, raw_score=True) for p in (held_out, test)
    ]
    return Fit(best, rounds, f"rate {rate}, {leaves} leaves", *scores)


def xgboost_fits(parts: Split) -> list[Fit]:
    """``rank:ndcg`` with its default pairs: those of the first 32 ranks."""
    (train, held_out, test, seed), found = parts, []
    for rate, leaves in GRID:
        params = {"objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide"}
        options = {"max_depth": 0, "max_leaves": leaves, "learning_rate": rate, "seed": seed}
        options |= {"nthread": 1, "verbosity": 0}
        train_data, *others = (xgb.DMatrix(p.x, p.y, nthread=1) for p in (train, held_out, test))
        train_data.set_group(train.sizes)
        booster = xgb.Booster({**params, **options}, cache=[train_data, others[0]])

        def grow(number: int, booster: Any = booster, data: Any = train_data) -> None:
            booster.update(data, number)

        def value(booster: Any = booster, data: Any = others[0]) -> float:
            return held_out.value(booster.predict(data, output_margin=True).astype(float))

        best, rounds = _stopped(grow, value)
        scores = (
            booster.predict(d, output_margin=True, iteration_range=(0, rounds)).astype(float)
            for d in others
        )
        found.append(Fit(best, rounds, f"rate {rate}, {leaves} leaves", *scores))
    return found


def _stopped(grow: Callable[[int], None], value: Callable[[], float]) -> tuple[float, int]:
    """Grow until ``PATIENCE`` trees were not better; the best value and its number of trees."""
    best, rounds = -np.inf, 0
    for number in range(ROUNDS):
        grow(number)
        if (found := value()) > best:
            best, rounds = found, number + 1
        elif number + 1 - rounds >= PATIENCE:
            break
    return float(best), rounds


def catboost_fits(parts: Split) -> list[Fit]:
    """YetiRank in the peers' environment; a tree of d levels for up to 2^d leaves."""
    script = Path(__file__).with_name("catboost_fit.py")
    with tempfile.TemporaryDirectory() as folder:
        data, result = Path(folder) / "data.npz", Path(folder) / "scores.npz"
        named = zip(("train", "held_out", "test"), parts[:3], strict=True)
        np.savez(data, **{f"{n}_{key}": value for n, p in named for key, value in vars(p).items()})
        grid = json.dumps([[rate, int(np.log2(leaves + 1))] for rate, leaves in GRID])
        given = [str(data), str(result), grid, str(ROUNDS), str(PATIENCE), str(parts.seed)]
        subprocess.run([str(PEERS), str(script), *given], check=True, capture_output=True)
        scores = np.load(result)
        found = []
        for number, (rate, leaves) in enumerate(GRID):
            own, other = scores[f"held_out_{number}"], scores[f"test_{number}"]
            setting = f"rate {rate}, depth {int(np.log2(leaves + 1))}"
            rounds = int(scores[f"rounds_{number}"])
            found.append(Fit(parts.held_out.value(own), rounds, setting, own, other))
        return found


METHODS: dict[str, Method] = {
    "regression (LightGBM)": lightgbm_fits({"objective": "l2"}),
    "LightGBM lambdarank": lightgbm_fits({"objective": "lambdarank"}),
    "LightGBM rank_xendcg": lightgbm_fits({"objective": "rank_xendcg"}),
    "XGBoost rank:ndcg": xgboost_fits,
    "CatBoost YetiRank": catboost_fits,
    "ours: log-loss of y/max y": lightgbm_fits({}, name="ndcg@10", blend=0.0),
    "ours: ndcg@10": lightgbm_fits({}, name="ndcg@10"),
    "ours: ndcg@10, noise": lightgbm_fits({}, name="ndcg@10", noise=NOISE),
    "ours: ndcg@10, blend .2": lightgbm_fits({}, name="ndcg@10", blend=BLEND),
    "ours: ndcg@10, blend .2, noise": lightgbm_fits({}, name="ndcg@10", blend=BLEND, noise=NOISE),
}
