"""Recommenders: what evaluation costs, and what each objective reaches on MovieLens 100K.

    python -m benchmarks.recommendation speed
    python -m benchmarks.recommendation movielens DIR [OBJECTIVE ...]

DIR holds ``u.data`` or RecBole's ``ml-100k.inter``. Results go to ``recommendation.json``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.timing import Result, least_processor_seconds, seconds_side_by_side

from rankwise.data.interactions import read_interactions
from rankwise.tasks.recommendation import (
    DEFAULT,
    Pairs,
    Scorer,
    Scores,
    Settings,
    evaluate,
    measure_of,
    popularity,
    prepared,
    train,
)
from rankwise.tasks.recommendation.batches import Batches
from rankwise.tasks.recommendation.catalog import BLOCK
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.training import loss_of

USERS, ITEMS, DIMENSION = 6_000, 4_000, 64
SEEN, WANTED = 130, 30  # of each user, about what MovieLens 1M has
STEP_USERS, STEP_ITEMS, TRAINED = 256, 40_000, 24  # about a step on Gowalla
SEEDS = 3
OBJECTIVES = ("softmax", "bpr", "pap@8", "ndcg@10", "ap")
SMALLER = Settings(
    scores="dot",
    dimension=32,
    weighting="users",
    batch=1024,
    negatives="128",
    epochs=25,
    warm_start=15,
    patience=3,
    learning_rate=3e-3,
    weight_decay=0.5,
)
METRICS = ("ndcg@10", "recall@10", "precision@10", "map@10", "pap@8", "mrr")
RESULTS = Path(__file__).with_suffix(".json")


def full_catalog() -> list[Result]:
    """The six metrics of every user against the whole catalog, over the product alone."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    users, items = torch.randn(USERS, DIMENSION), torch.randn(ITEMS, DIMENSION)
    drawn = np.argsort(rng.random((USERS, ITEMS), dtype=np.float32), axis=1)[:, : SEEN + WANTED]
    user = np.repeat(np.arange(USERS), SEEN + WANTED)
    is_seen = np.tile(np.arange(SEEN + WANTED) < SEEN, USERS)
    item = drawn.astype(np.int64).ravel()
    seen = Pairs.of(user[is_seen], item[is_seen], USERS, ITEMS)
    wanted = Pairs.of(user[~is_seen], item[~is_seen], USERS, ITEMS)
    scores = Scores(lambda codes: users[codes], items)
    measures = [measure_of(name) for name in DEFAULT]
    every = torch.arange(USERS)

    def in_blocks() -> None:
        for _ in scores.blocks(every, None):
            pass

    calls = [
        lambda: evaluate(scores, wanted, seen, measures),
        lambda: users @ items.T,
        in_blocks,
    ]
    ours, product, blocks = seconds_side_by_side(calls, repeats=9)
    what = f"evaluation, {USERS:,} users × {ITEMS:,} items, {DIMENSION}-d, {len(measures)} metrics"
    detail = {"evaluation": ours, "product": product, "product in blocks": blocks}
    return [
        Result(what, ours / product, "× users @ items.T", "<= 3", detail),
        Result(what, ours / blocks, "× the product in blocks, nothing kept", detail=detail),
    ]


def whole_catalog_step() -> list[Result]:
    """A step of softmax against the whole catalog, over the three products that it cannot spare."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(STEP_USERS), TRAINED)
    item = rng.integers(0, STEP_ITEMS, (STEP_USERS, 2 * TRAINED))
    item = np.stack([np.unique(row)[:TRAINED] for row in item]).ravel()
    pairs = Pairs.of(user, item, STEP_USERS, STEP_ITEMS)
    settings = Settings(temperature=0.1, batch=len(pairs))
    network = Recommender(STEP_USERS, STEP_ITEMS, settings)
    objective = loss_of("softmax", pairs)
    (batch,) = Batches(pairs, settings, single=False).epoch()
    users, items = network.users.ids.weight.detach(), network.items.ids.weight.detach()

    def step(*, short: bool) -> None:
        objective.sums_negatives = short
        batch.loss(network, objective).backward()

    def products() -> None:
        for some in users.split(max(1, BLOCK // STEP_ITEMS)):
            scores = some @ items.T
            scores @ items
            scores.T @ some

    calls: list[Callable[[], object]] = [
        lambda: step(short=True),
        lambda: step(short=False),
        products,
    ]
    short, general, bare = least_processor_seconds(calls, repeats=7)
    what = f"softmax step, {STEP_USERS} users × {STEP_ITEMS:,} items, {DIMENSION}-d"
    detail = {"step": short, "step with whole lists": general, "products": bare}
    return [
        Result(what, short / bare, "× its three products", "<= 2.5", detail),
        Result(what, general / short, "× slower with whole lists", detail=detail),
    ]


ALL = (full_catalog, whole_catalog_step)


def movielens(folder: Path, objectives: tuple[str, ...]) -> dict[str, Any]:
    """Every objective on the same splits, one for each seed."""
    data = read_interactions(folder)
    measures = [measure_of(name) for name in METRICS]
    found: dict[str, Any] = {}
    for seed in range(SEEDS):
        for name in ("popularity", *objectives):
            objective = "softmax" if name == "popularity" else name
            # Without a warm start of their own these two get its epochs: the most are the same.
            more = SMALLER.warm_start if objective in ("softmax", "bpr") else 0
            epochs = SMALLER.epochs + more
            settings = SMALLER.replace(objective=objective, seed=seed, epochs=epochs)
            problem = prepared(data, settings)
            start, done, kept = time.perf_counter(), 0, 0
            if name == "popularity":
                scores: Scorer = popularity(problem.pairs((0,)))
            else:
                trained = train(problem, settings)
                scores, done, kept = trained.network.scores(), len(trained.history), trained.best
            wanted, seen = problem.pairs((2,)), problem.pairs((0, 1), positive=False)
            means = evaluate(scores, wanted, seen, measures).means()
            row = {m: round(mean.value, 5) for m, mean in means.items()}
            row |= {"epochs": done, "kept": kept}
            row["seconds"] = round(time.perf_counter() - start, 1)
            found.setdefault(name, []).append(row)
            print(seed, name, row, flush=True)
    return found


def table(found: dict[str, Any]) -> str:
    """Means over the seeds with their standard deviations."""
    lines = ["| objective | " + " | ".join(METRICS) + " |", "|---" * (len(METRICS) + 1) + "|"]
    for name, rows in found.items():
        cells = []
        for metric in METRICS:
            values = np.array([row[metric] for row in rows])
            cells.append(f"{values.mean():.4f} ± {values.std(ddof=1):.4f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    torch.set_num_threads(1)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if arguments[:1] == ["speed"]:
        results = full_catalog()
        known["speed"] = [result.as_dict() for result in results]
        for result in results:
            print(f"{result.name}: {result.value:.2f} {result.unit} ({result.limit})")
    elif arguments[:1] == ["movielens"] and len(arguments) > 1:
        found = movielens(Path(arguments[1]), tuple(arguments[2:]) or OBJECTIVES)
        # A part that is measured again keeps the others.
        found = known.get("movielens", {}).get("results", {}) | found
        known["movielens"] = {
            "settings": SMALLER.plain(),
            "seeds": SEEDS,
            "results": found,
        }
        print(table(found))
    else:
        sys.exit(__doc__)
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
