"""YetiRank of CatBoost in an environment of its own: data and scores are npz files.

``python catboost_fit.py DATA SCORES GRID ROUNDS PATIENCE SEED``; the interpreter needs numpy and
catboost, nothing of this repository.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import catboost
import numpy as np


def main(data: str, out: str, *settings: str) -> None:
    grid, rounds, patience, seed = settings
    arrays, found = np.load(data), {}

    def pool(name: str) -> Any:
        x, y, query = (arrays[f"{name}_{key}"] for key in ("x", "y", "query"))
        return catboost.Pool(x, y, group_id=query)

    train, held_out, test = (pool(name) for name in ("train", "held_out", "test"))
    for number, (rate, depth) in enumerate(json.loads(grid)):
        model = catboost.CatBoost(
            {
                "loss_function": "YetiRank",
                "eval_metric": "NDCG:top=10;type=Exp",
                "iterations": int(rounds),
                "learning_rate": rate,
                "depth": depth,
                "random_seed": int(seed),
                "thread_count": 1,
                "od_type": "Iter",
                "od_wait": int(patience),
                "use_best_model": True,
                "allow_writing_files": False,
                "verbose": False,
            }
        )
        model.fit(train, eval_set=held_out)
        found[f"held_out_{number}"], found[f"test_{number}"] = map(model.predict, (held_out, test))
        found[f"rounds_{number}"] = np.array(model.tree_count_)
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
