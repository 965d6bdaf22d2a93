"""Metrics over users, each of whom ranks the whole catalog."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.metrics import mean_over_lists
from rankwise.tasks.recommendation.catalog import Scores, first_ranks
from rankwise.tasks.recommendation.measures import Measure, ranks_needed
from rankwise.tasks.recommendation.pairs import Pairs


@dataclass(frozen=True)
class Mean:
    """A mean over users with its standard error."""

    value: float
    standard_error: float
    n: int

    def __str__(self) -> str:
        if math.isnan(self.standard_error):
            return f"{self.value:.4f}"
        return f"{self.value:.4f} ± {1.96 * self.standard_error:.4f}"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One value for each user and metric; NaN: the user has nothing to find, or nothing else."""

    values: dict[str, Tensor]
    without_positives: int
    few_negatives: int  # users with fewer than k of them, who are measured with all they have
    k: int
    without_negatives: int = 0  # users who should find all they have not seen

    def means(self) -> dict[str, Mean]:
        """Over the users for whom the metric is defined."""
        found = {name: mean_over_lists(values) for name, values in self.values.items()}
        return {n: Mean(m.mean, m.standard_error, m.count) for n, m in found.items()}

    def notes(self) -> list[str]:
        """Who is not measured like everybody else, in words."""
        said = []
        if self.without_positives:
            users = _users(self.without_positives)
            said.append(f"{users} nothing to find there: left out.")
        if self.without_negatives:
            users = _users(self.without_negatives)
            said.append(f"{users} no unseen items except their positives: left out.")
        if self.few_negatives:
            users = _users(self.few_negatives)
            said.append(
                f"{users} fewer than {self.k} unseen items except their positives: "
                "measured with all there is."
            )
        if self.values and all(values.isnan().all() for values in self.values.values()):
            said.append("Nobody is left: no metric says anything here.")
        return said


def _users(count: int) -> str:
    return f"{count} user{'s' * (count != 1)} {'has' if count == 1 else 'have'}"


def evaluate(
    scores: Scores, wanted: Pairs, seen: Pairs | None, measures: Sequence[Measure]
) -> Evaluation:
    """Rank what every user had not seen, a block of users at a time, and judge by ``wanted``.

    The users × items scores are never all in memory. Tied scores count as the mean over their
    orders, whatever the order of the items is.
    """
    users = (wanted.counts > 0).nonzero().squeeze(1)
    values = {str(m): torch.full((wanted.n_users,), math.nan).double() for m in measures}
    k = max((measure.k or 1 for measure in measures), default=1)
    few = without = 0
    for some, top in first_ranks(scores, users, wanted, seen, ranks_needed(list(measures))):
        few += int(((top.negatives > 0) & (top.negatives < k)).sum())
        tied = top.tied
        any_tied = bool(tied.any())
        nothing = top.negatives <= 0
        without += int(nothing.sum())
        for measure in measures:
            found = measure.untied(top)
            if any_tied:
                found[tied] = measure.tied(top.rows(tied))
            values[str(measure)][some] = found.masked_fill(nothing, math.nan)
    return Evaluation(values, wanted.n_users - len(users), few, k, without)


def popularity(train: Pairs) -> Scores:
    """What everybody takes, for everybody: the least a recommender has to beat."""
    counts = torch.bincount(train.items, minlength=train.n_items).float()
    return Scores(lambda users: torch.ones(len(users), 1), counts.unsqueeze(1))
