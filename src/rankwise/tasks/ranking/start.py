"""A fitted ranker compared with where it started: all documents of a query tied."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankwise.data.letor import Letor
from rankwise.estimators import Ranker
from rankwise.report.verdict import Verdict, lower_rate, verdict
from rankwise.tasks.ranking.evaluate import judged
from rankwise.tasks.ranking.settings import Settings


def compared_with_start(
    settings: Settings, ranker: Ranker, name: str, data: Letor, scores: NDArray[np.float64]
) -> Verdict:
    """Return the verdict on the metric of the settings over the queries of the part ``name``."""
    before, after = (
        judged(each, data, [settings.metric], relevant=settings.relevant).popitem()[1].values
        for each in (np.zeros(len(data)), scores)
    )
    change = (after - before)[~np.isnan(after - before)]
    spread = float(change.std(ddof=1)) if len(change) > 1 else math.nan
    return verdict(
        settings.metric,
        part=name,
        test=(float(np.nanmean(before)), float(np.nanmean(after))) if len(change) else None,
        reach=1.96 * spread / math.sqrt(max(1, len(change))),
        advice=_advice(settings, ranker),
    )


def _advice(settings: Settings, ranker: Ranker) -> list[str]:
    rate = getattr(ranker, "learning_rate", None)
    found = [] if rate is None else [lower_rate("--set learning_rate", float(rate))]
    others = {"mlp": "linear", "linear": "boosted", "boosted": "linear"}
    found.append(f"another model, --model {others[settings.model]}")
    found.append("more queries to train on, or features that tell relevant documents apart")
    return found
