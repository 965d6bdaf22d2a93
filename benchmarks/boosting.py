"""Does boosting the metric pay? Test AP of the same trees on imbalanced tables, every loss alike.

``python -m benchmarks.boosting DIR [SET ...]`` with DIR the folder of the shared data sets (it is
not part of this repository); ``python -m benchmarks.boosting cost`` measures a round on 10⁶ rows.
Every loss gets the same splits, 60:20:20 within each class, the same trees and the same number of
them, and stops by the AP of the validation part. Writes ``boosting.json`` (with names of sets the
others keep their last results) and prints the table.

How the default of BoostedRanker was found: on the 80 % of each seed's rows that are not its test
part, split again 60:20:20 into rows to learn from, to stop by and to choose by, 2 to 8 seeds of
eight of these sets. There, against log-loss: AP from the first tree with the Huber loss −.05 to
−.02, with the logistic loss and each row's own curvature −.02, with the expected curvature −.002;
−log precision −.003 to +.006; a blend of that, 30 %, with log-loss +.005 to +.006, and AP behind it
+.006; log-loss and AP behind it +.001 to +.003. Differences of ±.004 are noise there.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import polars
import xgboost as xgb
from benchmarks.page import write_safely
from numpy.typing import NDArray
from rich.progress import Progress
from scipy import stats

from rankwise.boosting import lightgbm_objective
from rankwise.boosting.engines import EngineName, Table, Trees, engine_of
from rankwise.boosting.gradient import ObjectiveGradient, log_loss_gradient
from rankwise.boosting.mixing import Mixed
from rankwise.boosting.objectives import gradient_of, stateless_objective
from rankwise.boosting.precision import unsaturated
from rankwise.boosting.rows import Rows
from rankwise.boosting.training import Stage, boost
from rankwise.metrics import average_precision

SMALL = ["aloi", "mammography", "campaign", "pendigits", "optdigits"]
SMALL += ["satimage_2", "thyroid", "waveform", "musk"]
TARGETS = {"creditcard_100k": "Class"}
SEEDS, ROUNDS, PATIENCE, LONGEST = 5, 500, 50, 1000
TREES = Trees(0.1, 31, 20, 1.0, 1.0, 0.0, 1, 0)
RESULTS = Path(__file__).parent / "boosting.json"
BASE = "log-loss"

Floats = NDArray[np.float64]
Parts = tuple[Table, Table, Table]
Fit = Callable[[Parts], Floats]
"""From the three parts to the scores of the last."""


def load(folder: Path, name: str, seed: int) -> Parts:
    """Train, validation and test, 60:20:20 within each class."""
    table = polars.read_parquet(folder / "tabular" / f"{name}.parquet")
    column = TARGETS.get(name, "target")
    y = table[column].to_numpy().astype(float)
    x = table.drop(column).to_numpy().astype(np.float32)
    rng, parts = np.random.default_rng(seed), ([], [], [])  # type: ignore[var-annotated]
    for value in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == value))
        cuts = [int(0.6 * len(rows)), int(0.8 * len(rows))]
        for part, some in zip(parts, np.split(rows, cuts), strict=True):
            part.append(some)
    train, valid, test = (Table(x[r], Rows(y[r])) for r in map(np.concatenate, parts))
    return train, valid, test


def ap(scores: NDArray[Any], part: Table) -> float:
    return float(average_precision(scores.astype(np.float64), part.rows.target))


def staged(stages: list[Stage], parts: Parts, engine: EngineName = "lightgbm") -> Floats:
    """What BoostedRanker does, with the given parts."""
    train, valid, test = parts
    rate = train.rows.mass_of_positives / train.rows.mass
    kind = engine_of(engine)
    made = kind(TREES, train, valid, math.log(rate / (1 - rate)))
    boost(made, stages, lambda scores: ap(scores, valid), PATIENCE)
    return kind.read(made.text(), 1)(test.X)


def plain(parts: Parts, engine: EngineName = "lightgbm") -> Floats:
    return staged([Stage(log_loss_gradient, ROUNDS)], parts, engine)


def metric(parts: Parts, blend: float = 0.3, engine: EngineName = "lightgbm") -> Floats:
    """The stages of BoostedRanker("ap")."""
    objective = stateless_objective("ap")
    first = Mixed(ObjectiveGradient(unsaturated(objective)), blend)
    stages = [Stage(first, ROUNDS), Stage(ObjectiveGradient(objective), ROUNDS)]
    return staged(stages, parts, engine)


def from_the_start(parts: Parts) -> Floats:
    return staged([Stage(gradient_of("ap"), ROUNDS)], parts)


def weighted(parts: Parts) -> Floats:
    """Both classes of the same weight in all."""
    train, *others = parts
    target = train.rows.target
    weight = np.where(target > 0, (1 - target.mean()) / target.mean(), 1.0)
    return plain((replace(train, rows=Rows(target, weight)), others[0], others[1]))


def focal(parts: Parts) -> Floats:
    return staged([Stage(gradient_of("focal"), ROUNDS)], parts)


def random_lists(part: Table) -> tuple[Table, list[int]]:
    """The rows in random order and the lengths of lists of them: rankers refuse one long list."""
    n = len(part.rows.target)
    order = np.random.default_rng(0).permutation(n)
    sizes = [len(rows) for rows in np.array_split(order, math.ceil(n / LONGEST))]
    return Table(part.X[order], Rows(part.rows.target[order])), sizes


def lambdarank(parts: Parts) -> Floats:
    (train, sizes), (_, valid, test) = random_lists(parts[0]), parts
    params = {
        "objective": "lambdarank",
        "metric": "none",
        "learning_rate": TREES.learning_rate,
        "num_leaves": TREES.num_leaves,
        "min_data_in_leaf": TREES.min_child_samples,
        "num_threads": 1,
        "verbosity": -1,
        "seed": 0,
        "lambdarank_truncation_level": LONGEST,
    }
    data = lgb.Dataset(train.X, train.rows.target, group=sizes, params=params)
    held = lgb.Dataset(valid.X, valid.rows.target, reference=data, group=[len(valid.rows.target)])
    booster = lgb.train(
        params,
        data,
        ROUNDS,
        valid_sets=[held],
        feval=lambda scores, _: ("ap", ap(scores, valid), True),
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    return np.asarray(booster.predict(test.X), dtype=np.float64)


def rank_map(parts: Parts) -> Floats:
    (train, sizes), (_, valid, test) = random_lists(parts[0]), parts
    params = {
        "objective": "rank:map",
        "disable_default_eval_metric": True,
        "learning_rate": TREES.learning_rate,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": TREES.num_leaves,
        "min_child_weight": 1e-3,
        "reg_lambda": TREES.reg,
        "nthread": 1,
        "seed": 0,
        "verbosity": 0,
    }
    data = xgb.DMatrix(train.X, train.rows.target)
    data.set_group(sizes)
    held = xgb.DMatrix(valid.X, valid.rows.target)
    booster = xgb.train(
        params,
        data,
        ROUNDS,
        evals=[(held, "valid")],
        custom_metric=lambda scores, _: ("ap", ap(scores, valid)),
        maximize=True,
        early_stopping_rounds=PATIENCE,
        verbose_eval=False,
    )
    last = booster.best_iteration + 1
    return np.asarray(booster.predict(xgb.DMatrix(test.X), iteration_range=(0, last)), float)


LOSSES: dict[str, Fit] = {
    BASE: plain,
    'BoostedRanker("ap")': metric,
    "the same, blend=0": lambda parts: metric(parts, blend=0.0),
    "AP from the first tree": from_the_start,
    "class-weighted log-loss": weighted,
    "focal": focal,
    "LightGBM lambdarank": lambdarank,
    "XGBoost log-loss": lambda parts: plain(parts, "xgboost"),
    'BoostedRanker("ap", engine="xgboost")': lambda parts: metric(parts, engine="xgboost"),
    "XGBoost rank:map": rank_map,
}
AGAINST = {name: "XGBoost log-loss" if "xgboost" in name.lower() else BASE for name in LOSSES}

Results = dict[str, dict[str, list[float]]]


def main(folder: Path, wanted: list[str]) -> None:
    known = json.loads(RESULTS.read_text()) if wanted and RESULTS.exists() else {}
    results: Results = known.get("test_ap", {})
    sizes: dict[str, list[float]] = known.get("sizes", {})
    with Progress() as progress:
        names = wanted or SMALL
        task = progress.add_task("boosting", total=len(names) * SEEDS * len(LOSSES))
        for name in names:
            found: dict[str, list[float]] = {loss: [] for loss in LOSSES}
            for seed in range(SEEDS):
                parts = load(folder, name, seed)
                targets = np.concatenate([part.rows.target for part in parts])
                sizes[name] = [len(targets), float(targets.mean())]
                for loss, fit in LOSSES.items():
                    found[loss].append(ap(fit(parts), parts[2]))
                    progress.advance(task)
            results[name] = found
            for loss, values in found.items():
                progress.console.print(f"{name:14s} {loss:40s} {np.mean(values):.4f}")
            text = json.dumps({"sizes": sizes, "test_ap": results}, indent=1)
            write_safely(RESULTS, text + "\n")
    print(table(results, sizes))


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and half of the width of its 95 % interval."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()), float(stats.t.ppf(0.975, len(values) - 1)) * error


def differences(results: Results, loss: str) -> dict[str, NDArray[np.float64]]:
    return {name: np.subtract(r[loss], r[AGAINST[loss]]) for name, r in results.items()}


def outcome(values: NDArray[np.float64]) -> str:
    """Whether the interval of the paired difference leaves out zero, and on which side."""
    mean, half = interval(values)
    return "win" if mean > half else "loss" if -mean > half else "tie"


def table(results: Results, sizes: dict[str, list[float]]) -> str:
    sets = list(results)
    heads = [f"{s} ({sizes[s][0]:,.0f} rows, {sizes[s][1]:.1%})" for s in sets]
    lines = [
        "| test AP, mean of 5 seeds | " + " | ".join(heads) + " | mean | mean rank |",
        "|---" * (len(sets) + 3) + "|",
    ]
    means = np.array([[np.mean(results[s][loss]) for s in sets] for loss in LOSSES])
    ranks = stats.rankdata(-means.round(4), axis=0).mean(axis=1)
    for loss, row, rank in zip(LOSSES, means, ranks, strict=True):
        cells = " | ".join(f"{value:.3f}" for value in row)
        lines.append(f"| {loss} | {cells} | {row.mean():.4f} | {rank:.1f} |")
    lines += [
        "",
        "| paired difference, ± 95 % | " + " | ".join(sets) + " | mean of sets | win–tie–loss |",
        "|---" * (len(sets) + 3) + "|",
    ]
    for loss in LOSSES:
        if loss == AGAINST[loss]:
            continue
        each = differences(results, loss)
        cells = " | ".join("{:+.3f} ± {:.3f}".format(*interval(each[s])) for s in sets)
        mean, half = interval(np.array([values.mean() for values in each.values()]))
        ends = [outcome(values) for values in each.values()]
        score = "–".join(str(ends.count(end)) for end in ("win", "tie", "loss"))
        lines.append(f"| {loss} − {AGAINST[loss]} | {cells} | {mean:+.4f} ± {half:.4f} | {score} |")
    return "\n".join(lines)


def cost(rows: int = 10**6, columns: int = 20, rounds: int = 12) -> str:
    """Seconds of one thread for a round of LightGBM: built-in log-loss and our objectives."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, columns)).astype(np.float32)
    z = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=rows)
    y = (z > np.quantile(z, 0.98)).astype(float)
    params = {"num_threads": 1, "verbosity": -1, "num_leaves": 31, "force_row_wise": True}
    start = np.full(rows, math.log(0.02 / 0.98))

    def seconds(objective: Any, name: str) -> float:
        data = lgb.Dataset(x, y, init_score=start, params=params)
        booster = lgb.Booster({**params, "objective": name}, data)
        times = []
        for _ in range(rounds):
            begin = time.process_time()
            booster.update(fobj=objective)
            times.append(time.process_time() - begin)
        return float(np.median(times[2:]))

    base = seconds(None, "binary")
    lines = ["| a round on 10⁶ × 20 | seconds | × binary |", "|---|---|---|"]
    lines.append(f"| binary | {base:.3f} | 1.00 |")
    for name, blend in (("ap", 1.0), ("ap", 0.3), ("auc", 1.0), ("opauc(max_fpr=.05)", 1.0)):
        taken = seconds(lightgbm_objective(name, blend=blend), "none")
        lines.append(f"| {name}, blend={blend} | {taken:.3f} | {taken / base:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["cost"]:
        print(cost())
    elif len(sys.argv) < 2 or not (Path(sys.argv[1]) / "tabular").is_dir():
        sys.exit("usage: python -m benchmarks.boosting DIR [SET ...] | cost; DIR holds tabular/")
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
