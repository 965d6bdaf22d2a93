"""From scores to probabilities and decisions."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from docs.figures.frame import INK, ORANGE, PURPLE, TEAL, figure, label, panels
from rankwise.estimators import LinearRanker
from rankwise.metrics import precision_recall_curve

Floats = NDArray[np.float64]


def _data() -> tuple[Floats, NDArray[np.bool_]]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(12_000, 5))
    signal = features[:, 0] + 0.5 * features[:, 1] ** 2 + 0.5 * rng.normal(size=12_000)
    return features, signal > 2.5


def _observed(probability: Floats, target: NDArray[np.bool_]) -> tuple[list[float], list[float]]:
    """Mean prediction and share of positives in ten bins of equally many rows."""
    parts = np.array_split(np.argsort(probability), 10)
    means = [float(probability[rows].mean()) for rows in parts]
    return means, [float(target[rows].mean()) for rows in parts]


@figure("calibration")
def calibration() -> Figure:
    features, target = _data()
    model = LinearRanker("ap", random_state=0).fit(features[:6_000], target[:6_000])
    test, truth = features[6_000:], target[6_000:]
    raw = 1 / (1 + np.exp(-model.decision_function(test)))
    canvas, axes = panels(height=3.2)
    axes.plot([1e-3, 1], [1e-3, 1], color=INK, linewidth=0.8, linestyle="--", label="ideal")
    for probability, name, color in (
        (raw, "sigmoid(decision_function)", ORANGE),
        (model.predict_proba(test)[:, 1], "predict_proba", TEAL),
    ):
        axes.loglog(*_observed(probability, truth), "o-", color=color, label=name)
    axes.legend()
    axes.minorticks_off()
    label(axes, "mean prediction of a tenth of the rows", "share of positives in it")
    return canvas


@figure("threshold")
def threshold() -> Figure:
    features, target = _data()
    rule = "precision>=0.5"
    model = LinearRanker("ap", threshold=rule, random_state=0).fit(features[:6_000], target[:6_000])
    test, truth = features[6_000:], target[6_000:]
    curve = precision_recall_curve(model.decision_function(test), truth)
    chosen = model.predict(test).astype(bool)
    recall, precision = truth[chosen].sum() / truth.sum(), truth[chosen].mean()
    canvas, axes = panels(height=2.9)
    at = np.unique(np.linspace(0, len(curve.recall) - 1, 200).astype(int))
    axes.plot(curve.recall[at], curve.precision[at], color=TEAL)
    axes.axhline(0.5, color=INK, linewidth=0.8, linestyle="--")
    axes.plot(recall, precision, "o", color=PURPLE, markersize=8, label=f'threshold="{rule}"')
    axes.legend()
    label(axes, "recall on test rows", "precision on test rows")
    return canvas
