"""Training on a click log in place of relevance judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankwise.data.letor import (
    Letor,
    estimate_propensities,
    read_clicks,
    read_propensities,
    with_clicks,
)
from rankwise.errors import UsageError
from rankwise.naming import metric, objective
from rankwise.naming.table import read
from rankwise.tasks.ranking.settings import DEFAULT, Settings

PROPENSITIES = "propensities.csv"
"""File of a run with the propensity of every position."""


@dataclass(frozen=True, eq=False)
class ClickModel:
    """The click log of a training file, and the propensity of each position."""

    path: Path
    propensities: NDArray[np.float64]
    estimated: bool

    def line(self) -> str:
        """Return the propensities in one line."""
        shown = ", ".join(f"{value:.2g}" for value in self.propensities[:10])
        more = ", …" if len(self.propensities) > 10 else ""
        kind = "estimated" if self.estimated else "given"
        return f"clicks: {kind} propensities of the positions 1, 2, …: {shown}{more}"

    def rows(self) -> list[dict[str, float]]:
        """Return the rows of ``propensities.csv``, which ``--propensities`` reads."""
        return [
            {"position": k, "propensity": float(value)}
            for k, value in enumerate(self.propensities, 1)
        ]


def learn_from_clicks(
    lists: Letor, clicks: Path, propensities: Path | None
) -> tuple[Letor, ClickModel]:
    """Return the lists with relevances from a click log, and the click model."""
    log = read_clicks(clicks, lists)
    known = estimate_propensities(log) if propensities is None else read_propensities(propensities)
    return with_clicks(lists, log, known), ClickModel(clicks, known, propensities is None)


def linear_settings(settings: Settings) -> Settings:
    """Return settings whose objective and metric are linear in the relevances.

    Only these have no bias where relevances are clicks divided by their propensities: their mean is
    that of the true relevances.
    """
    return settings.replace(
        objective=_linear_objective(settings.objective), metric=_linear_metric(settings.metric)
    )


def linear_metrics(names: Sequence[str]) -> list[str]:
    """Return metrics that are linear in the relevances: NDCG of the defaults, or those given."""
    if tuple(names) == DEFAULT:
        names = [name for name in DEFAULT if name.startswith("ndcg")]
    return [_linear_metric(name) for name in names]


def _linear_objective(name: str) -> str:
    spec = read(name)
    if spec.name in ("ndcg", "song") and "gain" not in spec.options:
        spec = replace(spec, options={**spec.options, "gain": "linear"})
    elif spec.name == "listnet" and not spec.args and "target_distribution" not in spec.options:
        spec = replace(spec, options={**spec.options, "target_distribution": "linear"})
    made = objective(str(spec), prior=0.5, num_items=1, num_lists=1)
    if "linear" not in (getattr(made, "gain", None), getattr(made, "target_distribution", None)):
        raise UsageError(
            f"--objective {name} is not linear in the relevances, so clicks would bias it; "
            "use ndcg@10(gain=linear) or listnet(linear)"
        )
    return str(spec)


def _linear_metric(name: str) -> str:
    spec = read(name)
    if spec.name == "ndcg" and "gain" not in spec.options:
        spec = replace(spec, options={**spec.options, "gain": "linear"})
    if metric(str(spec)).setting.options.get("gain") != "linear":
        raise UsageError(
            f"metric {name} is not linear in the relevances, and clicks give no classes; "
            "use ndcg@10(gain=linear). `rankwise rank evaluate` has all metrics on judged lists"
        )
    return str(spec)
