"""Run folders as `rankwise compare` leaves them, on generated data; the numbers agree.

``python -m tests.report.comparison.sample FOLDER`` writes one and its page, to look at.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.metrics import (
    auroc,
    average_precision,
    bootstrap_interval,
    compare,
    ndcg,
    precision_at_k,
)
from rankwise.seals import sealed_zip

# Name, model, objective, how far apart its classes are, seconds, trials.
CANDIDATES = (
    ("linear, log-loss", "linear", "log_loss", 1.9, 3.1, 24),
    ("linear, ap", "linear", "ap", 2.15, 8.4, 24),
    ("boosted, log-loss", "boosted", "log_loss", 2.55, 21.7, 24),
    ("boosted, ap", "boosted", "ap", 2.8, 34.9, 22),
    ("neural, log-loss", "neural", "log_loss", 2.35, 74.0, 18),
    ("neural, ap", "neural", "ap", 2.5, 96.3, 17),
)
BASELINE, RECOMMENDED = 2, 3


def arrays(rows: int = 5000, share: float = 0.02, seed: int = 0) -> dict[str, np.ndarray]:
    """Scores with a part in common, as models of the same data have, and true probabilities."""
    rng = np.random.default_rng(seed)
    target = np.zeros(rows, dtype=np.int64)
    target[rng.choice(rows, max(1, round(share * rows)), replace=False)] = 1
    common, easy = rng.normal(size=rows), rng.uniform(0.4, 1.6, size=rows)
    held = {"target": target, "row": np.sort(rng.choice(5 * rows, rows, replace=False))}
    for place, (*_, distance, _, _) in enumerate(CANDIDATES):
        own = 0.85 * common + 0.53 * rng.normal(size=rows)
        mean = distance * target * easy
        scores = own + mean
        odds = np.log(share / (1 - share)) + distance * (scores - distance / 2)
        held[f"score_{place}"] = scores
        held[f"probability_{place}"] = np.round(1 / (1 + np.exp(-odds)), 5)
    return held


def results(held: dict[str, np.ndarray], resamples: int = 100) -> dict[str, Any]:
    """What compare would write of these predictions."""
    target, rng = held["target"], np.random.default_rng(1)
    rows = []
    for place, (name, model, objective, _, seconds, trials) in enumerate(CANDIDATES):
        scores = held[f"score_{place}"]
        test = bootstrap_interval(average_precision, scores, target, resamples=resamples)
        against = None
        if place != BASELINE:
            base = held[f"score_{BASELINE}"]
            found = compare(average_precision, scores, base, target, resamples=resamples)
            against = {
                "value": found.difference,
                "low": found.low,
                "high": found.high,
                "p": found.p_value,
            }
        mean = test.value + 0.01
        climb = np.sort(mean - 0.12 * rng.random(trials) ** 3)
        times = np.linspace(seconds / trials, seconds, trials)
        rows.append(
            {
                "name": name,
                "model": model,
                "objective": objective,
                "baseline": place == BASELINE,
                "validation": {"mean": mean, "low": mean - 0.05, "high": mean + 0.05},
                "test": {"value": test.value, "low": test.low, "high": test.high},
                "difference": against,
                "seconds": seconds,
                "trials": trials,
                "params": {"learning_rate": 0.05 * (place + 1), "l2": 1e-3, "rounds": 300},
                "curve": np.column_stack([times, climb]).round(4).tolist(),
            }
        )
    others = {"auc": auroc, "precision@100": lambda s, t: precision_at_k(s, t, k=100)}
    scores = [held[f"score_{place}"] for place in range(len(CANDIDATES))]
    return {
        "metric": "ap",
        "data": {
            "path": "data/transactions.csv",
            "rows": 5 * len(target),
            "features": 29,
            "positives": 5 * int(target.sum()),
            "train": 3 * len(target),
            "validation": len(target),
            "test": len(target),
        },
        "choice": "5-fold cross-validation × 2 (stratified split)",
        "candidates": rows,
        "recommended": RECOMMENDED,
        "why": "Boosted trees trained on average precision had the best mean over five "
        "validation splits, and beat boosted log-loss in each of them.",
        "verdict": "On the test part it is clearly better than boosted, log-loss.",
        "evaluation": "the test part",
        "remarks": ["stopped by --budget, a larger budget may improve: neural, ap"],
        "importance": {
            "metric": "ap",
            "value": rows[RECOMMENDED]["test"]["value"],
            "rows": len(target) // 2,
            "of_rows": len(target),
            "repeats": 3,
            "of_columns": 29,
            "part": "the test part",
            "columns": [
                {"name": f"v{n}", "mean": mean, "low": mean - 0.01, "high": mean + 0.012}
                for n in range(1, 30)
                for mean in [0.4 * 0.7**n - 0.001]
            ],
        },
        "other_metrics": {
            name: [float(metric(s, target)) for s in scores] for name, metric in others.items()
        },
    }


CONFIG = {
    "command": "rankwise compare",
    "data": "data/transactions.csv",
    "target": "fraud",
    "metric": "ap",
    "splits": {"kind": "stratified", "train": 0.6, "validation": 0.2, "test": 0.2},
    "drop": ["card", "customer name"],
    "candidates": "linear,boosted,neural",
    "budget": 120.0,
    "trials": 24,
    "seeds": 5,
    "seed": 0,
    "features": {f"v{n}": "number" for n in range(1, 30)},
    "versions": {"rankwise": "0.2.0", "torch": "2.13.0", "lightgbm": "4.6.0", "python": "3.11"},
}


def seal(path: Path) -> None:
    """Give a zip the SHA-256 that a file of a run has."""
    path.write_bytes(sealed_zip(path.read_bytes()))


def write_run(
    folder: Path,
    held: dict[str, np.ndarray] | None = None,
    found: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> Path:
    """The three files that a report reads; what is not given is the sample's."""
    held = arrays() if held is None else held
    found = results(held) if found is None else found
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "predictions.npz", **held)
    seal(folder / "predictions.npz")
    (folder / "results.json").write_text(json.dumps(found))
    (folder / "config.json").write_text(json.dumps(CONFIG if config is None else config))
    return folder


def grouped(folder: Path, lists: int = 60, each: int = 20) -> Path:
    """A run that ranks many lists, of graded relevance, by NDCG@10."""
    rng = np.random.default_rng(3)
    relevance = rng.choice(4, lists * each, p=[0.6, 0.2, 0.15, 0.05])
    relevance[:each] = 0  # one list without anything relevant
    held = {"target": relevance, "group": np.repeat(np.arange(lists), each) * 7}
    rows = []
    for place, (name, noise) in enumerate((("boosted, log-loss", 1.4), ("boosted, ndcg", 0.9))):
        held[f"score_{place}"] = relevance + noise * rng.normal(size=len(relevance))
        values = ndcg(
            held[f"score_{place}"][each:], relevance[each:], k=10, groups=held["group"][each:]
        )
        test = {"value": float(values), "low": float(values) - 0.03, "high": float(values) + 0.03}
        rows.append({"name": name, "baseline": not place, "test": test, "seconds": 4.0 + place})
    difference = rows[1]["test"]["value"] - rows[0]["test"]["value"]
    rows[1]["difference"] = {"value": difference, "low": 0.01, "high": 0.2, "p": 0.002}
    found = {"metric": "ndcg@10", "candidates": rows, "recommended": 1, "why": "It ranks better."}
    return write_run(folder, held, found, {"data": "letor.txt", "group": "qid"})


if __name__ == "__main__":
    from rankwise.report.comparison.report import write_report

    print(write_report(write_run(Path(sys.argv[1]))))
