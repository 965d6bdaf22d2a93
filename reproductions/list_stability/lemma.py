"""The recurrence of Lemma 1 beside the distances that were measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

from rankwise.theory import soprc_lemma_1
from reproductions.list_stability.fits import along
from reproductions.list_stability.measure import BATCH, Measured


@dataclass(frozen=True)
class Limit:
    """ε⁺ and ‖v − v⁽ⁱ⁾‖ of SOPRC for a replaced positive, with the bounds of Lemma 1."""

    scale: float
    steps: int
    distance: float
    bound: float
    memory_distance: float
    memory_bound: float
    way: float  # of the model from its start

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound is larger than the way of the model: twice it is the diameter."""
        return self.bound > 2 * self.way


def limits(measured: Measured) -> list[Limit]:
    """Compute the bounds for the smallest data set, with the smallest L measured."""
    n = min(measured.plan.n_positives)
    found = []
    for scale in measured.plan.scales:
        rows = along(measured, "SOPRC", scale, "positive", "T")
        training = measured.plan.training(scale, *BATCH)
        for steps in measured.plan.steps:
            bound = soprc_lemma_1(
                steps,
                smoothness=measured.constants.measured.smoothness_far,
                scale=scale,
                ema_rate=1 / BATCH[0],
                n_positives=n,
                n_negatives=n * training.negatives_per_positive,
                batch_positives=BATCH[0],
            )
            here = [row for row in rows if row.steps == steps]
            ways = [row.way for row in here if not math.isnan(row.way)]
            found.append(
                Limit(
                    scale,
                    steps,
                    fmean(row.positive for row in here),
                    bound.positive,
                    fmean(row.memory_positive for row in here),
                    bound.memory_positive,
                    fmean(ways) if ways else math.nan,
                )
            )
    return found
