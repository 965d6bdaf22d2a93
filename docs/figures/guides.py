"""Figures of the guides: tables, trees, recommendation, search."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import torch
from matplotlib.figure import Figure

from docs.figures.frame import INK, ORANGE, SHADES, TEAL, figure, label, panels
from rankwise.boosting import lightgbm_objective
from rankwise.data.interactions import read_interactions
from rankwise.estimators import LinearRanker
from rankwise.metrics import ndcg
from rankwise.tasks.recommendation import Settings, prepared, train


@figure("alerts")
def alerts() -> Figure:
    """Frauds among the first alerts: one column decides in the bulk, another one at the top."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(30_000, 6))
    logit = -5.2 + 1.4 * features[:, 1] + 5 * np.maximum(features[:, 0] - 1.6, 0)
    target = rng.random(30_000) < 1 / (1 + np.exp(-logit))
    train_rows, test_rows = slice(0, 15_000), slice(15_000, None)
    canvas, axes = panels(height=3.0)
    for objective, name, color in (("ap", "trained on AP", TEAL), ("log_loss", "log-loss", ORANGE)):
        model = LinearRanker(objective, metric="ap", random_state=0)
        model.fit(features[train_rows], target[train_rows])
        order = np.argsort(-model.decision_function(features[test_rows]))
        found = np.cumsum(target[test_rows][order])[:300]
        axes.plot(np.arange(1, 301)[::3], found[::3], color=color, label=name)
    axes.legend(loc="lower right")
    label(axes, "alerts, highest score first", "frauds among them")
    return canvas


@figure("boosted-gradient")
def boosted_gradient() -> Figure:
    """Gradient of one round for every row, by its score: log-loss and average precision."""
    rng = np.random.default_rng(0)
    target = np.arange(2_000) < 40
    scores = rng.normal(size=2_000) + 1.5 * target - 3.9
    data: Any = lightgbm.Dataset(scores[:, None], label=target.astype(float))
    data.construct()
    canvas, both = panels(2, height=2.9, sharex=True)
    for axes, blend, name in zip(both, (0.0, 1.0), ("log-loss", "average precision"), strict=True):
        gradient, _ = lightgbm_objective("ap", blend=blend)(scores, data)
        gradient = gradient / np.abs(gradient).sum()
        rows = np.argsort(scores)
        some = rows[~target[rows]][::30]
        axes.plot(scores[some], gradient[some], ".", color=ORANGE, markersize=4, label="negatives")
        axes.plot(
            scores[target], gradient[target], "o", color=TEAL, markersize=4, label="positives"
        )
        label(axes, "score of the row", "share of the gradient", name)
    both[0].legend()
    return canvas


@figure("recommender")
def recommender() -> Figure:
    """Clicks of two groups of users, and the scores of a model trained on NDCG@5."""
    rng = np.random.default_rng(0)
    rows = [(u, i) for u in range(40) for i in rng.permutation(np.arange(u % 2, 30, 2))[:8]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clicks.csv"
        path.write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in rows))
        settings = Settings(
            objective="ndcg@5",
            metric="ndcg@5",
            temperature=0.2,
            dimension=8,
            batch=64,
            negatives="20",
            epochs=20,
            warm_start=10,
            learning_rate=0.02,
            validation=1,
            test=2,
        )
        problem = prepared(read_interactions(path), settings)
        scores = train(problem, settings).network.scores()
    values = torch.empty(40, 30)
    with torch.no_grad():
        scores.write(torch.arange(40), values)
    clicks = np.zeros((40, 30))
    clicks[problem.user, problem.item] = 1
    # The even users and items first: they are the first group.
    users = np.argsort([int(user) % 2 for user in problem.users], kind="stable")
    items = np.argsort([int(item) % 2 for item in problem.items], kind="stable")
    canvas, (left, right) = panels(2, height=3.0, sharey=True)
    left.imshow(clicks[users][:, items], cmap=SHADES, aspect="auto")
    label(left, "items", "users", "clicks, sorted by group", grid=False)
    right.imshow(values.numpy()[users][:, items], cmap=SHADES, aspect="auto")
    label(right, "items", title="scores of the model", grid=False)
    return canvas


@figure("queries-won")
def queries_won() -> Figure:
    """The difference in NDCG@3 of two runs, query by query."""
    rng = np.random.default_rng(0)
    relevance = np.stack([rng.permutation([0, 0, 0, 0, 1, 1, 2]) for _ in range(120)])
    noise = rng.normal(size=(3, *relevance.shape))
    one, two = relevance + 1.6 * noise[0], relevance + 1.2 * noise[0] + 1.2 * noise[1]
    values = [
        ndcg(torch.as_tensor(scores), torch.as_tensor(relevance), k=3, average="none")
        for scores in (one, two)
    ]
    difference = np.sort(np.asarray(values[0] - values[1]))
    canvas, axes = panels(height=2.6)
    axes.bar(range(120), difference, color=[TEAL if d > 0 else ORANGE for d in difference], width=1)
    axes.axhline(float(difference.mean()), color=INK, linestyle="--", linewidth=1, label="mean")
    axes.legend()
    label(axes, "queries, sorted", "NDCG@3 of run A − run B")
    return canvas
