"""The search space: the options that are tuned, few, and wide enough to matter."""

from __future__ import annotations

import math
from collections.abc import Mapping

from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution

import rankwise.estimators
from rankwise.tasks.compare.candidates import CLASSES, Candidate

Option = float | list[int]  # of an estimator: a number, or the widths of layers
Params = Mapping[str, Option]


Space = Mapping[str, BaseDistribution]

WIDTH = "width"
STEPS = 1500
MOST_EPOCHS = 300

SPACES: dict[str, Space] = {
    "linear": {"alpha": FloatDistribution(1e-7, 1.0, log=True)},
    "boosted": {
        "num_leaves": IntDistribution(4, 128, log=True),
        "learning_rate": FloatDistribution(0.01, 0.3, log=True),
        "min_child_samples": IntDistribution(2, 100, log=True),
    },
    "neural": {
        "learning_rate": FloatDistribution(1e-4, 1e-2, log=True),
        WIDTH: IntDistribution(16, 256, log=True),
        "weight_decay": FloatDistribution(1e-6, 1e-1, log=True),
    },
}
"""Options of a kind of model, whatever it is trained on."""

METRIC_SPACES: dict[str, Space] = {"linear": {"proximity": FloatDistribution(1e-4, 1.0, log=True)}}
"""Further options of a kind of model when it is trained on a metric."""


SHORTEST = {"max_iter": 10, "n_estimators": 20, "epochs": 2, "warm_start_epochs": 1}
"""The length of a training below which a model has hardly begun to learn."""


def shortest(params: Mapping[str, object]) -> dict[str, int]:
    """Return the least useful length of a training, of an estimator with these options."""
    return {name: length for name, length in SHORTEST.items() if name in params}


def space_of(candidate: Candidate) -> dict[str, BaseDistribution]:
    """Return the options of a candidate with their ranges."""
    more = {} if candidate.is_log_loss else METRIC_SPACES.get(candidate.model, {})
    return {**SPACES[candidate.model], **more}


def defaults(candidate: Candidate) -> dict[str, float]:
    """Return the estimator's own options, which are tried first."""
    own = getattr(rankwise.estimators, CLASSES[candidate.model])().get_params()
    if "hidden" in own:
        own[WIDTH] = own["hidden"][0]
    return {name: own[name] for name in space_of(candidate)}


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
