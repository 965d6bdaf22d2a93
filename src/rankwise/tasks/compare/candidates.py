"""Candidates of a comparison: a kind of model, and the objective it is trained on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rankwise.data import DataError
from rankwise.naming import canonical_objective
from rankwise.naming import objective as named_objective

CLASSES = {"linear": "LinearRanker", "boosted": "BoostedRanker", "neural": "NeuralRanker"}
MODELS = tuple(CLASSES)
LOG_LOSS = "log_loss"
BOTH = "both"  # the mean of the ranks of the log-loss and the metric model


@dataclass(frozen=True)
class Candidate:
    """A model with an objective, or two of them together."""

    model: str
    objective: str
    parts: tuple[str, ...] = ()  # names of the candidates whose ranks are averaged

    @property
    def name(self) -> str:
        """The name in tables: ``boosted, log-loss``."""
        words = self.objective.replace(LOG_LOSS, "log-loss")
        return f"{self.model}, {words}"

    @property
    def is_log_loss(self) -> bool:
        """Whether it is trained on log-loss alone."""
        return self.objective == LOG_LOSS

    @property
    def key(self) -> str:
        """The name of its folder and its study."""
        return re.sub(r"[^a-z0-9.=@]+", "-", self.name.lower()).strip("-")


def candidates(metric: str, words: str) -> list[Candidate]:
    """Return the candidates for a metric, as ``--candidates`` lists them.

    ``linear``, ``boosted`` and ``neural`` stand for three each: trained on log-loss, on the metric,
    and both together. ``boosted:ap`` is one alone: of any objective, ``log_loss`` or ``both``.
    At least one is trained on log-loss, since that is what the others are compared with; the
    parts of an ensemble are candidates, too.
    """
    against = objective_for(metric)
    found: dict[str, Candidate] = {}
    for word in _words(words):
        model, _, objective = word.partition(":")
        if model not in MODELS:
            raise DataError(
                f"--candidates must be a list of {', '.join(MODELS)}, "
                f"or with an objective such as boosted:ap, got {word!r}"
            )
        plain, metrical = Candidate(model, LOG_LOSS), Candidate(model, against)
        both = Candidate(model, f"{LOG_LOSS} + {against}", (plain.name, metrical.name))
        if objective in ("", BOTH):
            chosen = [plain, metrical, both]
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
    try:
        named_objective(metric, prior=0.5)
    except ValueError:
        return "ap"
    return re.sub(r"\s*,\s*", ", ", metric.strip())


def _words(words: str) -> list[str]:
    """Split at the commas that are not inside parentheses."""
    found = [word.strip() for word in re.split(r",(?![^()]*\))", words)]
    if not all(found):
        raise DataError(f"--candidates has an empty place, got {words!r}")
    return found


def _known(objective: str) -> str:
    if objective in (LOG_LOSS, "log-loss"):
        return LOG_LOSS
    try:
        named_objective(objective, prior=0.5, num_items=1, num_lists=1)
    except ValueError as error:
        raise DataError(f"--candidates: {error}") from error
    return canonical_objective(objective)
