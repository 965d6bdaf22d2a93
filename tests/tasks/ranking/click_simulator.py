"""Clicks of a position-based model whose propensities and relevances are known.

``python -m tests.tasks.ranking.click_simulator`` prints the metric of a linear ranker on judged
lists, trained on the true relevances and on the clicks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankwise.data.letor import Clicks, Letor, with_clicks
from rankwise.tasks.ranking.evaluate import evaluate_lists
from rankwise.tasks.ranking.pipeline import fitted, scores_of
from rankwise.tasks.ranking.settings import Settings

METRIC = "ndcg@3(gain=linear)"

POSITIONS = 10
PROPENSITIES = 1 / np.arange(1, POSITIONS + 1)
"""θ of the simulation."""


def simulated(queries=150, sessions=200, seed=0):
    """Return judged lists and their clicks.

    The documents are shown by feature 1, which says nothing of the relevance, with two places
    swapped in every session. Feature 2 is the relevance with noise. So clicks follow feature 1
    through the positions, and relevance follows feature 2.
    """
    rng = np.random.default_rng(seed)
    size = queries * POSITIONS
    groups = np.repeat(np.arange(queries), POSITIONS)
    gamma = rng.choice([0.05, 0.2, 0.8], size=size, p=[0.6, 0.25, 0.15])
    shown_by = rng.normal(size=size)
    features = np.stack(
        [np.zeros(size), shown_by, gamma + 0.25 * rng.normal(size=size)], axis=1
    ).astype(np.float32)
    shown, clicked = (np.zeros((size, POSITIONS)) for _ in range(2))
    for query in range(queries):
        rows = np.flatnonzero(groups == query)
        order = rows[np.argsort(-shown_by[rows])]
        for _ in range(sessions):
            now = order.copy()
            first, second = rng.choice(POSITIONS, 2, replace=False)
            now[[first, second]] = now[[second, first]]
            shown[now, np.arange(POSITIONS)] += 1
            clicked[now, np.arange(POSITIONS)] += rng.random(POSITIONS) < PROPENSITIES * gamma[now]
    rows, places = np.nonzero(shown)
    log = Clicks(Path("log"), rows, places + 1, shown[rows, places], clicked[rows, places])
    names = tuple(str(query) for query in range(queries))
    return Letor(Path("lists"), features, gamma, groups, names), log


def qualities(settings, lists, log, judged):
    """Return the metric on judged lists, by what the ranker was trained on."""
    parts = {
        "true relevances": lists,
        "corrected clicks": with_clicks(lists, log),
        "clicks as they are": with_clicks(lists, log, np.ones(POSITIONS)),
    }
    found = {}
    for name, part in parts.items():
        scores = scores_of(fitted(settings, part), judged)
        found[name] = float(np.mean(evaluate_lists(scores, judged, [METRIC])[METRIC].values))
    return found


def write(folder, lists, log):
    """Write both as files, and return their paths."""
    lines = [
        f"qid:{lists.queries[group]} 1:{row[1]:.6f} 2:{row[2]:.6f}"
        for group, row in zip(lists.groups, lists.features, strict=True)
    ]
    (folder / "lists.txt").write_text("\n".join(lines) + "\n")
    rows = [
        f"{lists.queries[lists.groups[row]]},{lists.document(row)},{position},{shown:g},{clicked:g}"
        for row, position, shown, clicked in zip(
            log.rows, log.positions, log.shown, log.clicked, strict=True
        )
    ]
    (folder / "clicks.csv").write_text("query,document,position,shown,click\n" + "\n".join(rows))
    return folder / "lists.txt", folder / "clicks.csv"


if __name__ == "__main__":
    linear = Settings(model="linear", objective="listnet(linear)", metric=METRIC)
    for trained_on, value in qualities(
        linear, *simulated(), simulated(seed=1, sessions=1)[0]
    ).items():
        print(f"{trained_on}: {METRIC} {value:.3f}")
