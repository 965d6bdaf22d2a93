"""The objective of an estimator by its name, and the metric it is evaluated by."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from rankwise._grammar import canonical
from rankwise.boosting.objectives import stateless_objective
from rankwise.estimators.data import Floats, Part
from rankwise.naming import class_metric, metric, metric_of
from rankwise.naming.entry import ObjectiveEntry, load
from rankwise.naming.table import find_objective, read
from rankwise.objectives import ClassObjective, Objective

_LOG_LOSS = ("logloss", "crossentropy", "bce")


def is_log_loss(name: str) -> bool:
    """Return whether this is the plain log-loss, under any of its names."""
    return canonical(read(name).name) in _LOG_LOSS


def entry_of(name: str) -> ObjectiveEntry:
    """Return the entry of an objective in the table of names."""
    return find_objective(read(objective_name(name)))


def is_graded(name: str) -> bool:
    """Return whether an objective takes relevances rather than two classes."""
    return bool(getattr(load(entry_of(name)), "graded", False))


def is_of_classes(name: str) -> bool:
    """Return whether an objective takes the logits of several classes, such as ``mauc``."""
    made_by = load(entry_of(name))
    return isinstance(made_by, type) and issubclass(made_by, ClassObjective)


def require_metric(name: str, classes: int | None = None) -> None:
    """Raise unless a metric is there for a number of classes; None: not known yet."""
    if classes is None:
        try:
            metric(name)
        except ValueError as error:
            try:
                class_metric(name)
            except ValueError:
                raise error from None
    elif classes == 2:
        metric(name)
    else:
        class_metric(name)


def make_stateless(name: str, prior: float | None = None) -> Objective:
    """Make the objective of a name for one batch of all rows; refuse one with a memory."""
    return stateless_objective(objective_name(name), prior=prior, logits=False)


def objective_name(name: str) -> str:
    """Return the name as :func:`rankwise.objective` reads it; ``log_loss`` is cross-entropy."""
    return "cross_entropy" if is_log_loss(name) else name


def metric_name(name: str) -> str:
    """Return the metric of an objective. Log-loss has none of its own: average precision."""
    return "ap" if is_log_loss(name) else metric_of(name)


def metric_value(name: str, scores: Floats, part: Part) -> float:
    """Compute a metric, by name, of the scores of some rows.

    Where the rows are lists, every list with a positive counts, as in trec_eval; metrics of pairs
    of a positive and a negative leave out the lists without a negative, too. Where lower is better
    the value is negative, as that of scikit-learn's ``neg_…`` scorers.
    """
    lists = part.groups is not None
    setting = replace(metric(name).setting, positives_alone=lists)
    with warnings.catch_warnings():
        if lists:
            warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ lists have", RuntimeWarning)
        value = setting(
            np.asarray(scores, dtype=np.float64), part.target, None, part.groups, part.weight
        )
    return float(value) if setting.kernel.higher_is_better else -float(value)
