"""The search space: the options that are tuned, few, and wide enough to matter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from optuna.trial import Trial

import rankwise.estimators
from rankwise.tasks.compare.candidates import CLASSES, Candidate

Option = float | list[int]  # of an estimator: a number, or the widths of layers
Params = Mapping[str, Option]


@dataclass(frozen=True)
class Span:
    """Numbers between two ends, spaced evenly in their logarithm."""

    low: float
    high: float
    whole: bool = False

    def suggest(self, name: str, trial: Trial) -> float | int:
        """Draw one of them."""
        if self.whole:
            return trial.suggest_int(name, int(self.low), int(self.high), log=True)
        return trial.suggest_float(name, self.low, self.high, log=True)


WIDTH = "width"
STEPS = 1500
MOST_EPOCHS = 300

SPACES: dict[str, Mapping[str, Span]] = {
    "linear": {"alpha": Span(1e-7, 1.0)},
    "boosted": {
        "num_leaves": Span(4, 128, whole=True),
        "learning_rate": Span(0.01, 0.3),
        "min_child_samples": Span(2, 100, whole=True),
    },
    "neural": {
        "learning_rate": Span(1e-4, 1e-2),
        WIDTH: Span(16, 256, whole=True),
        "weight_decay": Span(1e-6, 1e-1),
    },
}
"""Options of a kind of model, whatever it is trained on."""

METRIC_SPACES: dict[str, Mapping[str, Span]] = {
    "linear": {"proximity": Span(1e-4, 1.0)},
}
"""Further options of a kind of model when it is trained on a metric."""


SHORTEST = {"max_iter": 10, "n_estimators": 20, "epochs": 2, "warm_start_epochs": 1}
"""The length of a training below which a model has hardly begun to learn."""


def shortest(params: Mapping[str, object]) -> dict[str, int]:
    """Return the least useful length of a training, of an estimator with these options."""
    return {name: length for name, length in SHORTEST.items() if name in params}


def space_of(candidate: Candidate) -> dict[str, Span]:
    """Return the options of a candidate with their ranges."""
    more = {} if candidate.is_log_loss else METRIC_SPACES.get(candidate.model, {})
    return {**SPACES[candidate.model], **more}


def defaults(candidate: Candidate) -> dict[str, float]:
    """Return the estimator's own options, which are tried first."""
    own = getattr(rankwise.estimators, CLASSES[candidate.model])().get_params()
    if "hidden" in own:
        own[WIDTH] = own["hidden"][0]
    return {name: own[name] for name in space_of(candidate)}


def suggested(candidate: Candidate, trial: Trial) -> dict[str, float]:
    """Draw the options of a trial."""
    return {name: span.suggest(name, trial) for name, span in space_of(candidate).items()}


def options_of(drawn: Mapping[str, float]) -> dict[str, Option]:
    """Turn what was drawn into options of the estimator: a width is that of two layers."""
    options: dict[str, Option] = {name: v for name, v in drawn.items() if name != WIDTH}
    if WIDTH in drawn:
        width = int(drawn[WIDTH])
        options["hidden"] = [width, max(1, width // 2)]
    return options


def length_of(params: Mapping[str, int], rows: int) -> dict[str, int]:
    """Return the epochs and patience of a model of batches, whatever its objective.

    A small table has few batches an epoch. By epochs alone log-loss, which starts from nothing,
    was stopped before it had learned (on 2 400 rows after 44 steps, at a worse AP than chance),
    while a metric starts from some epochs of log-loss: the difference was one of time, not of
    the objective. Both get the epochs that make enough steps, and patience in proportion.
    """
    if not {"epochs", "patience", "batch_size"} <= set(params):
        return {}
    enough = min(math.ceil(STEPS * params["batch_size"] / rows), MOST_EPOCHS)
    return {
        "epochs": max(params["epochs"], enough),
        "patience": max(params["patience"], enough // 5),
    }
