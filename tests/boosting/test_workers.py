"""XGBoost's distributed training with our objectives, in processes that this file starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xgboost as xgb

from rankwise.boosting import xgboost_metric, xgboost_objective

CASES = {
    "ap": {},
    "ndcg@5": {"groups": True},
    "opauc(max_fpr=.3)": {"weights": True, "blend": 0.5, "warm_rounds": 2},
}
PARAMS = {"eta": 0.3, "max_depth": 3, "base_score": 0.5, "nthread": 1, "tree_method": "hist"}


def data(name: str, part: slice | None = None) -> xgb.DMatrix:
    """Return lists of four rows with few distinct values, so that cuts do not depend on parts."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, (120, 4)).astype(float)
    graded = rng.integers(0, 3, 120) if "ndcg" in name else rng.random(120) < 0.3
    y = (graded + (x[:, 0] > 12)).clip(0, 2 if "ndcg" in name else 1).astype(float)
    part = part or slice(None)
    found = xgb.DMatrix(x[part], y[part])
    if CASES[name].get("weights"):
        found.set_info(weight=(1 + np.arange(120) % 3)[part])
    if CASES[name].get("groups"):
        found.set_info(group=np.full(len(y[part]) // 4, 4))
    return found


def trees(name: str, rows: xgb.DMatrix) -> tuple[xgb.Booster, list[float]]:
    options = {n: v for n, v in CASES[name].items() if n in ("blend", "warm_rounds")}
    values: dict[str, dict[str, list[float]]] = {}
    booster = xgb.train(
        {**PARAMS, "disable_default_eval_metric": True},
        rows,
        6,
        obj=xgboost_objective(name, **options),
        evals=[(rows, "train")],
        custom_metric=xgboost_metric(name),
        evals_result=values,
        verbose_eval=False,
    )
    return booster, next(iter(values["train"].values()))


def work(rank: int, world: int, arguments: str, folder: str) -> None:
    bounds = np.linspace(0, 30, world + 1).astype(int) * 4
    with xgb.collective.CommunicatorContext(**json.loads(arguments), dmlc_task_id=f"{rank:04}"):
        for name in CASES:
            own = slice(bounds[rank], bounds[rank + 1])
            booster, values = trees(name, data(name, own))
            found = {"scores": booster.predict(data(name), output_margin=True).tolist()}
            path = Path(folder) / f"{name.partition('(')[0]}-{rank}.json"
            path.write_text(json.dumps(found | {"values": values}))


@pytest.mark.parametrize("world", [2, pytest.param(3, marks=pytest.mark.full)])
def test_workers_grow_the_trees_of_one_process(tmp_path, world):
    tracker = xgb.tracker.RabitTracker(n_workers=world, host_ip="127.0.0.1", sortby="task")
    tracker.start()
    given = [str(world), json.dumps(tracker.worker_args()), str(tmp_path)]
    started = [
        subprocess.Popen([sys.executable, __file__, str(rank), *given], stderr=subprocess.PIPE)
        for rank in range(world)
    ]
    for process in started:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    for name in CASES:
        booster, values = trees(name, data(name))
        expected = booster.predict(data(name), output_margin=True)
        for rank in range(world):
            path = tmp_path / f"{name.partition('(')[0]}-{rank}.json"
            found = json.loads(path.read_text())
            np.testing.assert_allclose(found["scores"], expected, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(found["values"], values, rtol=1e-6)
        assert np.ptp(expected) > 0.1


if __name__ == "__main__":
    work(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
