"""Objectives and metrics for LightGBM and XGBoost by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from rankwise._grammar import Spec, Value, canonical
from rankwise.boosting._workers import join_workers
from rankwise.boosting.gradient import Curvature, Gradient, ObjectiveGradient, log_loss_gradient
from rankwise.boosting.noise import SAMPLES, NoisyGradient, check_noise
from rankwise.boosting.rows import BoosterData, Floats, Rows, require_data_set, rows_of
from rankwise.checks import require_count
from rankwise.naming import canonical_metric, metric_of, name_of
from rankwise.naming import metric as named_metric
from rankwise.naming import objective as named_objective
from rankwise.naming.lookup import signature_of_objective
from rankwise.naming.signatures import EMPTY
from rankwise.naming.table import find_objective, read
from rankwise.objectives import Objective

LOGITS: dict[str, dict[str, Value]] = {
    "ap": {
        "false_positives": Spec("Logistic", args=(1.0,)),
        "true_positives": Spec("ZeroOne"),
        "score_scale": 1.0,
    },
    "opauc": {"surrogate": Spec("Logistic", args=(1.0,))},
}
"""Options that a name without others has here: trees are boosted on logits, whose scale is known.

Chosen on validation data (benchmarks/tabular): a Huber loss or a squared hinge ends at its margin,
beyond which a rare class has no gradient left after a few trees; a logistic loss always has some.
Through the true positive rate there is no gradient, so it is counted exactly.
"""

_RANGE = ("max_fpr", "min_fpr")  # what of a partial AUC is no option of its loss

_NOT_OF_ROWS = (
    'objective "{}" is not one of one score per row; use "ap", "auc", "opauc(max_fpr=.1)", '
    '"tpauc(.5, .5)", "pap@10", "ndcg" or "listnet"'
)
_STATELESS = ("ap", "auc", "opauc", "tpauc", "ndcg")  # metrics with an objective without a memory


@dataclass(eq=False)
class BoosterObjective:
    """Function (scores, data set) → (gradient, curvature), which LightGBM and XGBoost call.

    See :func:`lightgbm_objective`. Rounds are counted by data set, for ``warm_rounds``: make a new
    one for every training.
    """

    name: str
    warm_rounds: int
    gradient: Gradient
    blend: float
    _rounds: WeakKeyDictionary[BoosterData, int] = field(default_factory=WeakKeyDictionary)

    def __repr__(self) -> str:
        """Return the objective and its share of the gradient."""
        return f"{type(self).__name__}({self.name!r}, blend={self.blend})"

    def __call__(self, scores: ArrayLike, data: BoosterData) -> tuple[Floats, Floats]:
        """Return gradient and curvature of every row, for the next tree."""
        require_data_set(data)
        done = self._rounds.get(data, 0)
        self._rounds[data] = done + 1
        rows = replace(rows_of(data), round=done)
        logits = np.asarray(scores, dtype=np.float64).reshape(len(rows.target))
        joined = join_workers(logits, rows, data)
        derivatives = log_loss_gradient if done < self.warm_rounds else self.mixed
        gradient, curvature = derivatives(joined.scores, joined.rows)
        return gradient[joined.own], curvature[joined.own]

    def mixed(self, scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return gradient and curvature of (1 − ``blend``) log-loss and ``blend`` of the objective.

        The objective is scaled until the absolute gradients of both add up to the same, so that a
        share means the same for every objective and in every round.
        """
        if self.blend == 1:
            return self.gradient(scores, rows)
        plain = log_loss_gradient(scores, rows)
        if self.blend == 0:
            return plain
        own = self.gradient(scores, rows)
        size = float(np.abs(own[0]).sum())
        factor = self.blend * float(np.abs(plain[0]).sum()) / size if size > 0 else 0.0
        both = zip(plain, own, strict=True)
        gradient, curvature = ((1 - self.blend) * a + factor * b for a, b in both)
        return gradient, curvature


def lightgbm_objective(
    name: str | Objective,
    *,
    warm_rounds: int = 0,
    blend: float = 1.0,
    curvature: Curvature = "expected",
    prior: float | None = None,
    noise: float = 0.0,
    samples: int = SAMPLES,
    seed: int = 0,
) -> BoosterObjective:
    """Return an objective for ``lightgbm.train(params={"objective": …})``.

    ``xgboost_objective`` is the same function, for ``xgboost.train(obj=…)``.

    Labels, weights and lists (``group``) are those of the data set; in XGBoost the weight of a list
    is that of all its rows. Scores are taken as logits: start from the log-odds of the prior or
    from the scores of another model by the ``init_score`` of a LightGBM data set, the
    ``base_margin`` of a ``DMatrix``; LightGBM does not add them when it predicts.

    In XGBoost's distributed training (``xgboost.collective``, Ray, Dask, Spark) the rows of all
    workers are ranked together: the trees are those of one process with all rows. A list must be
    whole on one worker.

    Args:
        name: Name of an objective without a memory, see :func:`rankwise.objective`: a booster shows
            all rows in every round, so there is nothing to remember. Or such an objective.
        warm_rounds: Number of rounds of log-loss before the first round of the objective.
        blend: Share of this objective in the gradient, the rest is log-loss; both are scaled to the
            same sum of absolute gradients.
        curvature: See :class:`~rankwise.boosting.gradient.ObjectiveGradient`.
        prior: Share of positives where it is not that of the data set.
        noise: Scale of the noise of the scores in every round, in units of the scores; 0 for none.
            See :class:`~rankwise.boosting.noise.NoisyGradient`.
        samples: Number of noisy orders a round, over which the gradient is averaged.
        seed: Random seed of the noise. Each round draws its own.

    Returns:
        The objective, a function of (scores, data set) that counts its rounds: make a new one for
        every training.

    Example:
        >>> from rankwise.boosting import lightgbm_metric, lightgbm_objective
        >>> params = {"objective": lightgbm_objective("ap"), "metric": "none"}
        >>> params["objective"]  # lightgbm.train(params, data, feval=lightgbm_metric("ap"))
        BoosterObjective('ap', blend=1.0)
        >>> from rankwise.boosting import xgboost_objective
        >>> options = {"obj": xgboost_objective("ap", blend=0.5), "maximize": True}
        >>> options["obj"]  # xgboost.train(params, data, **options)
        BoosterObjective('ap', blend=0.5)
    """
    named = name_of(name)  # an object's own name is good for as long as ``name`` holds the object
    require_count("warm_rounds", warm_rounds, minimum=0)
    if not 0 <= blend <= 1:
        raise ValueError(f"blend must be in [0, 1], got {blend!r}")
    gradient = gradient_of(
        named, curvature=curvature, prior=prior, noise=noise, samples=samples, seed=seed
    )
    return BoosterObjective(named, warm_rounds, gradient, blend)


xgboost_objective = lightgbm_objective
"""The same function as :func:`lightgbm_objective`, for ``xgboost.train(obj=…)``."""


def gradient_of(
    name: str,
    *,
    curvature: Curvature = "expected",
    prior: float | None = None,
    noise: float = 0.0,
    samples: int = SAMPLES,
    seed: int = 0,
) -> ObjectiveGradient:
    """Return gradient and curvature of an objective by its name, averaged over noise if any."""
    check_noise(noise, samples)
    objective = stateless_objective(name, prior=prior)
    if noise == 0:
        return ObjectiveGradient(objective, curvature)
    return NoisyGradient(objective, curvature, noise=noise, samples=samples, seed=seed)


def stateless_objective(name: str, *, prior: float | None = None, logits: bool = True) -> Objective:
    """Return the objective of a name, if it is one of single scores and without a memory.

    ``logits``: with the options that :data:`LOGITS` has for the name.
    """
    spec = read(name)
    entry = find_objective(spec)
    own = LOGITS.get(canonical(spec.name), {}) if logits else {}
    if own and len(spec.args) <= len(_RANGE) and set(spec.options) <= set(_RANGE):
        name = str(replace(spec, options={**spec.options, **own}))
    # With the smallest memory, so that an objective that needs one can be made and refused.
    needs_items = "num_items" in entry.needs or ("num_items" in entry.facts and not entry.when)
    if prior is None and signature_of_objective(entry).defaults.get("prior") is EMPTY:
        prior = 0.5
    made = named_objective(name, prior=prior, num_items=1 if needs_items else None)
    if entry.made_by is not None:
        require_own_objective(name, made)
    remembers = made.state_dict() or getattr(made, "memory_by", None) is not None
    if remembers:
        metric = metric_of(name)
        instead = metric if read(metric).name in _STATELESS else "ap"
        raise ValueError(
            f'objective "{name}" remembers earlier batches, and here every batch has all rows; '
            f'use "{instead}", which has no memory'
        )
    if not isinstance(made, Objective):
        raise ValueError(_NOT_OF_ROWS.format(name))
    try:
        value = made(torch.tensor([0.0, 1.0]), torch.tensor([0, 1]))
    except (ValueError, RuntimeError, IndexError, TypeError) as error:
        if entry.made_by is not None:  # its author has to see what failed
            raise ValueError(
                f'objective "{name}" fails on two scores: {type(error).__name__}: {error}'
            ) from error
        raise ValueError(_NOT_OF_ROWS.format(name)) from error
    if value.dim() > 0:
        raise ValueError(_NOT_OF_ROWS.format(name))
    return made


def require_own_objective(name: str, made: nn.Module) -> None:
    """Raise unless what a user has passed or registered is an objective of scores and target."""
    if not isinstance(made, Objective):
        raise ValueError(
            f'objective "{name}" must be an Objective, which is called with scores and target, got '
            f"{type(made).__name__}; derive it from rankwise.objectives.Objective, or train with "
            "it in your own loop"
        )


def lightgbm_metric(name: str) -> Callable[[ArrayLike, BoosterData], tuple[str, float, bool]]:
    """Return a metric for ``lightgbm.train(feval=…)``.

    Weights and lists are those of the data set. With ``params={"metric": "none"}`` it is the only
    metric, which early stopping then uses.

    Args:
        name: Name of a metric, see :func:`rankwise.metric`.

    Returns:
        A function of (scores, data set) that returns (name, value, larger is better).

    Example:
        >>> from types import SimpleNamespace
        >>> from rankwise.boosting import lightgbm_metric
        >>> data = SimpleNamespace(  # what a lightgbm.Dataset answers
        ...     get_label=lambda: [1, 0, 1, 0], get_weight=lambda: None, get_group=lambda: None
        ... )
        >>> lightgbm_metric("roc_auc")([0.9, 0.8, 0.3, 0.1], data)
        ('auc', 0.75, True)
    """
    metric, name = named_metric(name), canonical_metric(name)

    def value(scores: ArrayLike, data: BoosterData) -> tuple[str, float, bool]:
        rows = rows_of(data)
        logits = np.asarray(scores, dtype=np.float64).reshape(len(rows.target))
        logits, rows, _ = join_workers(logits, rows, data)
        with warnings.catch_warnings():
            # Lists of one class are left out of the mean; once a round is too often to say so.
            warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ lists have", RuntimeWarning)
            found = metric.value(logits, rows.target, groups=rows.groups, weight=rows.weight)
        return name, float(found), True

    return value


def xgboost_metric(name: str) -> Callable[[ArrayLike, BoosterData], tuple[str, float]]:
    """Return a metric for ``xgboost.train(custom_metric=…)``.

    XGBoost minimizes by default: pass ``maximize=True`` to ``train`` or to
    ``xgboost.callback.EarlyStopping``. ``params={"disable_default_eval_metric": True}`` makes it
    the only metric.

    Args:
        name: Name of a metric, see :func:`rankwise.metric`.

    Returns:
        A function of (scores, data set) that returns (name, value).

    Example:
        >>> from types import SimpleNamespace
        >>> from rankwise.boosting import xgboost_metric
        >>> data = SimpleNamespace(  # what an xgboost.DMatrix answers
        ...     get_label=lambda: [1, 0, 1, 0], get_weight=list, get_uint_info=lambda name: []
        ... )
        >>> xgboost_metric("precision@2")([0.9, 0.8, 0.3, 0.1], data)
        ('precision@2', 0.5)
    """
    metric = lightgbm_metric(name)
    return lambda scores, data: metric(scores, data)[:2]
