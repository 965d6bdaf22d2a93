"""``python -m benchmarks.tabular.cost``: a boosting round on 10⁶ rows, ours against the built-in.

Seconds of one thread (CPU time, so that other work matters little), median of the rounds
after the second. Writes ``cost.json`` and prints the table.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from benchmarks.page import write_safely
from numpy.typing import NDArray

from rankwise.boosting import lightgbm_objective, xgboost_objective

ROWS, COLUMNS, ROUNDS, RATE = 10**6, 20, 12, 0.02
OURS = [("ap", 1.0), ("ap", 0.3), ("auc", 1.0), ("opauc(max_fpr=.05)", 1.0)]
RESULTS = Path(__file__).parent / "cost.json"
START = math.log(RATE / (1 - RATE))


def rows() -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    z = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=ROWS)
    return x, (z > np.quantile(z, 1 - RATE)).astype(float)


def seconds(grow: Callable[[int], Any]) -> float:
    times = []
    for number in range(ROUNDS):
        begin = time.process_time()
        grow(number)
        times.append(time.process_time() - begin)
    return float(np.median(times[2:]))


def lightgbm_round(x: Any, y: Any, ours: Any) -> float:
    name = "binary" if ours is None else "none"
    params = {"num_threads": 1, "verbosity": -1, "num_leaves": 31, "force_row_wise": True}
    data = lgb.Dataset(x, y, init_score=np.full(ROWS, START), params=params)
    booster = lgb.Booster({**params, "objective": name}, data)
    return seconds(lambda _: booster.update(fobj=ours))


def xgboost_round(x: Any, y: Any, ours: Any) -> float:
    params = {
        "objective": "binary:logistic",
        "disable_default_eval_metric": True,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": 31,
        "nthread": 1,
        "verbosity": 0,
    }
    data = xgb.DMatrix(x, y, nthread=1)
    data.set_base_margin(np.full(ROWS, START))
    booster = xgb.Booster(params, cache=[data])
    return seconds(lambda number: booster.update(data, number, fobj=ours))


def main() -> None:
    x, y = rows()
    found: dict[str, dict[str, float]] = {}
    engines = {
        "LightGBM": (lightgbm_round, lightgbm_objective),
        "XGBoost": (xgboost_round, xgboost_objective),
    }
    for engine, (one_round, objective) in engines.items():
        found[engine] = {"built-in log-loss": one_round(x, y, None)}
        for name, blend in OURS:
            found[engine][f"{name}, blend={blend}"] = one_round(x, y, objective(name, blend=blend))
    write_safely(RESULTS, json.dumps(found, indent=1) + "\n")
    print(table(found))


def table(found: dict[str, dict[str, float]]) -> str:
    lines = [f"| a round on {ROWS:,} × {COLUMNS} | CPU seconds | × built-in |", "|---|---|---|"]
    for engine, taken in found.items():
        base = taken["built-in log-loss"]
        lines += [f"| {engine}: {name} | {s:.3f} | {s / base:.2f} |" for name, s in taken.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
