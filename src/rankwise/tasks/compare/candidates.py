"""Candidates of a comparison: a kind of model, the objective it is trained on, and its options.

The options that are tuned are few, with ranges wide enough to matter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution

import rankwise.estimators
from rankwise._grammar import split_names
from rankwise.data import DataError
from rankwise.naming import canonical_objective
from rankwise.naming import objective as named_objective
from rankwise.naming.classes import inner_metric
from rankwise.report.format import candidate_title, in_sentence

CLASSES = {"linear": "LinearRanker", "boosted": "BoostedRanker", "neural": "NeuralRanker"}
LOG_LOSS = "log_loss"
BOTH = "both"  # the mean of the ranks of the log-loss and the metric model
CONTROL = "two log-losses"  # the same mean of two models that are both trained on log-loss


@dataclass(frozen=True)
class Candidate:
    """A model with an objective, or two of them together."""

    model: str
    objective: str
    parts: tuple[str, ...] = ()  # names of the candidates whose ranks are averaged
    second: bool = False  # a fit that differs by chance alone: part of a control, not compared

    @property
    def name(self) -> str:
        """The name in tables: ``boosted, log-loss``."""
        words = self.objective.replace(LOG_LOSS, "log-loss")
        return f"{self.model}, {words}{', second fit' if self.second else ''}"

    @property
    def words(self) -> str:
        """The name in a sentence: ``gradient boosting trained on log-loss``."""
        return in_sentence(candidate_title(self.name))

    @property
    def is_control(self) -> bool:
        """Whether it averages two log-loss fits."""
        return self.objective == CONTROL

    @property
    def is_log_loss(self) -> bool:
        """Whether it is trained on log-loss alone."""
        return self.objective == LOG_LOSS

    @property
    def key(self) -> str:
        """The name of its folder and its study."""
        return re.sub(r"[^a-z0-9.=@]+", "-", self.name.lower()).strip("-")

    def space(self) -> dict[str, BaseDistribution]:
        """Return the options that are tuned, with their ranges."""
        more = {} if self.is_log_loss else METRIC_SPACES.get(self.model, {})
        return {**SPACES[self.model], **more}

    def defaults(self) -> dict[str, float]:
        """Return the estimator's own options, which are tried first."""
        own = getattr(rankwise.estimators, CLASSES[self.model])().get_params()
        if "hidden" in own:
            own[WIDTH] = own["hidden"][0]
        return {name: own[name] for name in self.space()}


def candidates(metric: str, words: str) -> list[Candidate]:
    """Return the candidates for a metric, as ``--candidates`` lists them.

    ``linear``, ``boosted`` and ``neural`` stand for four each: trained on log-loss, on the metric,
    both together, and as a control of that two fits of log-loss together. ``boosted:ap`` is one
    alone: of any objective, or ``log_loss``; ``both`` stands for the four. At least one is trained
    on log-loss, since that is what the others are compared with; the parts of an ensemble are
    candidates, too, the second fit of log-loss only for the control.
    """
    against = objective_for(metric)
    found: dict[str, Candidate] = {}
    listed = split_names(words)
    if not all(listed):
        raise DataError(f"--candidates has an empty place, got {words!r}")
    for word in listed:
        model, _, objective = word.partition(":")
        if model not in CLASSES:
            raise DataError(
                f"--candidates must be a list of {', '.join(CLASSES)}, "
                f"or with an objective such as boosted:ap, got {word!r}"
            )
        plain, metrical = Candidate(model, LOG_LOSS), Candidate(model, against)
        both = Candidate(model, f"{LOG_LOSS} + {against}", (plain.name, metrical.name))
        second = Candidate(model, LOG_LOSS, second=True)
        control = Candidate(model, CONTROL, (plain.name, second.name))
        if objective in ("", BOTH):
            chosen = [plain, metrical, both, second, control]
        else:
            chosen = [Candidate(model, _known(objective))]
        found |= {each.name: each for each in chosen}
    if not any(each.is_log_loss for each in found.values()):
        first = next(iter(found.values())).model
        raise DataError(
            "--candidates must have one trained on log-loss to compare with: "
            f"add {first}:{LOG_LOSS}, got {words!r}"
        )
    return list(found.values())


def objective_for(metric: str) -> str:
    """Return the objective of a metric; average precision for those without their own."""
    for name in (metric, inner_metric(metric)):  # a mean over classes has that of its metric
        try:
            named_objective(name, prior=0.5)
        except ValueError:
            continue
        return re.sub(r"\s*,\s*", ", ", name.strip())
    return "ap"


def _known(objective: str) -> str:
    if objective in (LOG_LOSS, "log-loss"):
        return LOG_LOSS
    try:
        named_objective(objective, prior=0.5, num_items=1, num_lists=1)
    except ValueError as error:
        raise DataError(f"--candidates: {error}") from error
    return canonical_objective(objective)


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


SECOND = {"subsample": 0.8}
"""Options of a second fit, which also has another seed, where an estimator has them."""

SHORTEST = {"max_iter": 10, "n_estimators": 20, "epochs": 2, "warm_start_epochs": 1}
"""The length of a training below which a model has hardly begun to learn."""


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
