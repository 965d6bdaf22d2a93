"""``python -m benchmarks.classes``: macro AP of more than two classes, log-loss against AP.

The irises, wines and digits that scikit-learn brings along, as they are and with some classes
thinned out. Every seed splits the rows into halves by class, one to train on and one to test on.
Both objectives have the same model, options and rows held out. Nothing is tuned: all options are
the defaults, but for 100 trees with at least 5 rows in a leaf, and the epochs (300) and patience
(60) that ``rankwise compare`` gives a network on so few rows. The differences are paired by seed;
their intervals are Student's, with the variance corrected for overlapping splits (Nadeau and Bengio
2003). Writes ``classes.json`` after every fit, takes up what is in it, and prints the table. About
5 minutes of a core.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.page import write_safely
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, Ranker
from rankwise.tasks.compare.metrics import corrected

SEEDS = 5
RESULTS = Path(__file__).parent / "classes.json"
# Name: the data set, the classes that are thinned out, and the share of their rows that is kept.
SETS: dict[str, tuple[Callable[..., Any], tuple[int, ...], float]] = {
    "iris": (load_iris, (), 1.0),
    "iris, one class rare": (load_iris, (1,), 0.4),
    "wine": (load_wine, (), 1.0),
    "wine, one class rare": (load_wine, (2,), 0.4),
    "digits": (load_digits, (), 1.0),
    "digits, three classes rare": (load_digits, (1, 3, 8), 0.1),
}
MODELS: dict[str, Callable[..., Ranker]] = {
    "linear": LinearRanker,
    "boosted": lambda objective, **given: BoostedRanker(
        objective, n_estimators=100, min_child_samples=5, n_jobs=1, **given
    ),
    "neural": lambda objective, **given: NeuralRanker(objective, epochs=300, patience=60, **given),
}


def rows(name: str, seed: int) -> Any:
    """Return the halves of a set: rows to train on, rows to test on, and their classes."""
    load, thin, share = SETS[name]
    whole, y = load(return_X_y=True)
    rng = np.random.default_rng(seed)
    kept = ~np.isin(y, thin) | (rng.random(len(y)) < share)
    return train_test_split(
        whole[kept], y[kept], test_size=0.5, stratify=y[kept], random_state=seed
    )


def main() -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in SETS:
        for seed in range(SEEDS):
            train, test, y_train, y_test = rows(name, seed)
            for model, make in MODELS.items():
                for objective in ("log_loss", "ap"):
                    key = f"{name}|{model}|{objective}|{seed}"
                    if key in known:
                        continue
                    begin = time.process_time()
                    ranker = make(objective, metric="ap", random_state=seed).fit(train, y_train)
                    known[key] = {
                        "value": ranker.score(test, y_test),
                        "cpu": time.process_time() - begin,
                        "train": len(train),
                        "test": len(test),
                        "rarest": int(np.bincount(y_train).min()),
                    }
                    print(key, known[key], file=sys.stderr, flush=True)
                    write_safely(RESULTS, json.dumps(known, indent=1) + "\n")
    print(table(known))


def table(known: dict[str, dict[str, float]]) -> str:
    """Return the means over seeds and the paired differences."""
    lines = [
        "| rows | model | seeds | macro AP, log-loss | macro AP, AP | difference (95 %) | CPU, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in SETS:
        for model in MODELS:
            pairs = [
                [
                    known.get(f"{name}|{model}|{objective}|{seed}")
                    for objective in ("log_loss", "ap")
                ]
                for seed in range(SEEDS)
            ]
            done = [(plain, own) for plain, own in pairs if plain and own]
            if not done:
                continue
            values = np.array([[each["value"] for each in pair] for pair in done])
            sizes = int(done[0][0]["train"]), int(done[0][0]["test"])
            gain = corrected(values[:, 1] - values[:, 0], *sizes)
            cpu = np.mean([[each["cpu"] for each in pair] for pair in done], axis=0)
            lines.append(
                f"| {name} | {model} | {len(done)} "
                f"| {values[:, 0].mean():.4f} | {values[:, 1].mean():.4f} "
                f"| {gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f}) "
                f"| {cpu[0]:.1f}, {cpu[1]:.1f} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
