"""A boosting round on long lists: ours against LightGBM's lambdarank and XGBoost's rank:ndcg.

CPU time of one thread, the median of rounds in turns, so that other work matters little. All grow
trees of 31 leaves on the same 10 columns; five relevances, 80 % of the documents have none. The
pairs of a peer are those of its first ranks with all documents (``lambdarank_truncation_level``;
``lambdarank_num_pair_per_sample`` with the method topk), or one drawn for every document (method
mean). Ours has no such setting: it sums over all pairs. LightGBM refuses lists above 10 000.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from benchmarks.timing import Result

from rankwise.boosting import lightgbm_objective
from rankwise.boosting.objectives import gradient_of
from rankwise.boosting.rows import Rows

COLUMNS, SIZES = 10, {1_000: 10, 10_000: 2, 100_000: 1}  # documents of a list: lists
ROUNDS = 3
Round = Callable[[], object]


def documents(size: int) -> tuple[Any, Any, Any]:
    """Features, relevances and the sizes of the lists."""
    rng, n = np.random.default_rng(0), size * SIZES[size]
    x = rng.normal(size=(n, COLUMNS)).astype(np.float32)
    z = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=n)
    y = np.digitize(z, np.quantile(z, [0.8, 0.9, 0.97, 0.99])).astype(float)
    return x, y, np.full(SIZES[size], size)


def lightgbm_round(size: int, objective: str, truncation: int = 30) -> Round:
    """A round of lambdarank, or of one of our objectives."""
    x, y, sizes = documents(size)
    own: Any = None if objective == "lambdarank" else lightgbm_objective(objective)
    params = {"objective": "none" if own else objective, "num_threads": 1, "verbosity": -1}
    params |= {"num_leaves": 31, "force_row_wise": True}
    params |= {"lambdarank_truncation_level": truncation}
    booster = lgb.Booster(params, lgb.Dataset(x, y, group=sizes, params=params))
    return lambda: booster.update(fobj=own)


def xgboost_round(size: int, method: str, pairs: int) -> Round:
    """A round of rank:ndcg with so many pairs of a document."""
    x, y, sizes = documents(size)
    data = xgb.DMatrix(x, y, nthread=1)
    data.set_group(sizes)
    params = {"objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide"}
    options: dict[str, Any] = {"max_depth": 0, "max_leaves": 31, "nthread": 1, "verbosity": 0}
    options |= {"lambdarank_pair_method": method, "lambdarank_num_pair_per_sample": pairs}
    booster = xgb.Booster({**params, **options}, cache=[data])
    done = iter(range(10**6))
    return lambda: booster.update(data, next(done))


def cpu_seconds(*rounds: Round) -> list[float]:
    """Median CPU time of each, taken in turns after a first one; of one above 5 s the first."""
    times = [[_taken(one)] for one in rounds]
    for _ in range(ROUNDS):
        for one, taken in zip(rounds, times, strict=True):
            if taken[0] < 5:
                taken.append(_taken(one))
    return [statistics.median(taken[1:] or taken) for taken in times]


def _taken(one: Round) -> float:
    start = time.process_time()
    one()
    return time.process_time() - start


def _ratio(size: int, ours: str, name: str, theirs: Round, limit: str = "") -> Result:
    mine, other = cpu_seconds(lightgbm_round(size, ours), theirs)
    what = f"a round of {ours}, lists of {size:,} documents, against {name}"
    return Result(what, other / mine, "× faster", limit, {"ours": mine, "theirs": other})


def gradient() -> Iterator[Result]:
    """The gradient of a round alone."""
    for size in SIZES:
        x, y, sizes = documents(size)
        rows = Rows(y, None, np.repeat(np.arange(len(sizes)), sizes))
        scores, names = x[:, 0].astype(float), ("ndcg", "ndcg@10")
        calls = [partial(gradient_of(name), scores, rows) for name in names]
        for name, taken in zip(names, cpu_seconds(*calls), strict=True):
            what = f"gradient and curvature of {name}, {len(sizes)} × {size:,} documents"
            yield Result(what, 1e3 * taken, "ms")


def lightgbm() -> Iterator[Result]:
    """Against lambdarank with all pairs, and with its default of the first 30 ranks."""
    for size in (1_000, 10_000):
        every = lightgbm_round(size, "lambdarank", size)
        limit = ">= 10" if size == 10_000 else ""
        yield _ratio(size, "ndcg", "LightGBM's lambdarank, all pairs", every, limit)
        few = lightgbm_round(size, "lambdarank")
        yield _ratio(size, "ndcg@10", "LightGBM's lambdarank, pairs of 30 ranks (default)", few)


def xgboost() -> Iterator[Result]:
    """Against rank:ndcg with the pairs of the first 10 000 and of 32 ranks, and drawn ones."""
    for size in (10_000, 100_000):
        many = xgboost_round(size, "topk", 10_000)
        limit = ">= 20" if size == 100_000 else ""
        name = "XGBoost's rank:ndcg, topk, pairs of 10,000 ranks"
        yield _ratio(size, "ndcg", name, many, limit)
        few = xgboost_round(size, "topk", 32)
        name = "XGBoost's rank:ndcg, topk, pairs of 32 ranks (default)"
        yield _ratio(size, "ndcg@10", name, few)
        drawn = xgboost_round(size, "mean", 1)
        yield _ratio(size, "ndcg@10", "XGBoost's rank:ndcg, mean, 1 pair a document", drawn)


ALL = [gradient, lightgbm, xgboost]
