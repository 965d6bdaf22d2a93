"""Metrics of a recommender over users, computed from the first ranks of each."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from rankwise import metrics
from rankwise._grammar import canonical, parse
from rankwise.errors import UsageError
from rankwise.metrics import at_rank, mean_over_lists
from rankwise.metrics.gather import gather_rows
from rankwise.metrics.ranking import rank_items
from rankwise.metrics.top import precisions_through
from rankwise.naming.table import resolve
from rankwise.report import Mean
from rankwise.tasks.recommendation.catalog import Scorer, Scores, Top, first_ranks
from rankwise.tasks.recommendation.exposure import Exposure
from rankwise.tasks.recommendation.problem import Pairs

MEASURES = ("ndcg", "recall", "precision", "map", "pap", "hit", "mrr")
_SHOWN = 10  # ranks of the recommended items where no measure has a number of its own
DEFAULT = ("ndcg@10", "recall@10", "precision@10", "map@10", "pap@10", "mrr")


@dataclass(frozen=True)
class Measure:
    """A metric of every user's ranking of the items they had not seen."""

    kind: str
    k: int | None  # None: the whole catalog

    def __str__(self) -> str:
        return self.kind if self.k is None else f"{self.kind}@{self.k}"

    @property
    def ranks(self) -> int:
        """How many of the first ranks have to be known."""
        if self.k is None:
            return 1
        # The i-th positive has i − 1 others above it: below rank 2k − 1 all k negatives are.
        return 2 * self.k - 1 if self.kind == "pap" else self.k

    def untied(self, top: Top) -> Tensor:
        """The value for every user; right where no scores are tied."""
        if self.k is None:
            return 1 / (1 + top.above_best)
        return _UNTIED[self.kind](top, self.k)

    def tied(self, top: Top) -> Tensor:
        """The same with ties, the mean over the orders of tied items (for pAp half a pair)."""
        if self.k is None:
            scores, target, weight = top.around_best()
            return metrics.mean_reciprocal_rank(scores, target, weight=weight, average="none")
        scores, target, weight = top.condensed()
        if self.kind == "map":
            first = precisions_through(rank_items(scores, target, weight), self.k)
            return first / top.positives.clamp_max(self.k)
        with warnings.catch_warnings():  # who has few negatives is counted in the evaluation
            warnings.simplefilter("ignore", RuntimeWarning)
            return _TIED[self.kind](scores, target, k=self.k, weight=weight, average="none")


def measure_of(name: str) -> Measure:
    """The measure of a name such as ``"ndcg@10"`` or ``"mrr"``."""
    try:
        typed = parse(name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    own = canonical(typed.name) == "map"  # elsewhere an alias of ap
    spec = replace(typed, name="map") if own else resolve(typed)
    kind = canonical(spec.name)
    if kind == "ndcg":  # of two classes the linear gain of ndcg_cut_10 is the same
        spec = replace(spec, options=typed.options)
    if kind == "ap":
        raise UsageError(
            f"{name!r} has no counterpart here: average precision over the first k ranks is map@k, "
            "which divides by min(k, positives), not by all positives as trec_eval's map_cut_k"
        )
    kinds = ", ".join(kind if kind == "mrr" else f"{kind}@k" for kind in MEASURES)
    if kind not in MEASURES or spec.args or spec.options:
        raise UsageError(f"a metric must be one of {kinds}, got {name!r}")
    if kind == "mrr":
        if spec.k is not None:
            raise UsageError(f"mrr is over the whole catalog, got {name!r}; write mrr")
        return Measure("mrr", None)
    if not isinstance(spec.k, int) or spec.k < 1:
        raise UsageError(f"{kind} needs a number of ranks, such as {kind}@10")
    return Measure(kind, spec.k)


def _ndcg(top: Top, k: int) -> Tensor:
    best = (torch.arange(k) < top.positives.unsqueeze(1)).to(top.hits.dtype)
    return at_rank.dcg(top.hits, k) / at_rank.dcg(best)


def _pap(top: Top, k: int) -> Tensor:
    """1 − Σ_{i ≤ β} min(k, negatives above the i-th positive) / (β · negatives)."""
    hits = top.hits
    ranks = torch.arange(1, hits.shape[1] + 1, dtype=hits.dtype)
    above = ranks - hits.cumsum(1)  # negatives above each rank
    counted = hits * (hits.cumsum(1) <= k)
    beta, pairs = top.positives.clamp_max(k), top.negatives.clamp_max(k).unsqueeze(1)
    in_order = (counted * (pairs - torch.minimum(above, pairs))).sum(1)
    return in_order / (beta * pairs.squeeze(1))


_UNTIED: dict[str, Callable[[Top, int], Tensor]] = {
    "precision": lambda top, k: at_rank.precision(top.hits, k),
    "recall": lambda top, k: at_rank.recall(top.hits, top.positives, k),
    "hit": lambda top, k: at_rank.hit(top.hits, k),
    "map": lambda top, k: at_rank.average_precision(top.hits, top.positives.clamp_max(k), k),
    "ndcg": _ndcg,
    "pap": _pap,
}
_TIED: dict[str, Callable[..., Tensor]] = {
    "precision": metrics.precision_at_k,
    "recall": metrics.recall_at_k,
    "hit": metrics.hit_at_k,
    "ndcg": metrics.ndcg,
    "pap": metrics.pap_at_k,
}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One value for each user and metric; NaN: the user has nothing to find, or nothing else."""

    values: dict[str, Tensor]
    without_positives: int
    few_negatives: int  # users with fewer than k of them, who are measured with all they have
    k: int
    without_negatives: int = 0  # users who should find all they have not seen
    catalog: dict[str, float] = field(default_factory=dict)  # coverage, Gini index and novelty

    def joined(self) -> Evaluation:
        """The values of all processes, each of which has evaluated other users."""
        joined = {}
        for name, own in self.values.items():
            users = (~own.isnan()).nonzero().squeeze(1)
            places, values = gather_rows(users), gather_rows(own[users])
            joined[name] = torch.full_like(own, math.nan).index_copy_(0, places, values)
        return replace(self, values=joined)

    def means(self) -> dict[str, Mean]:
        """Over the users for whom the metric is defined."""
        found = {name: mean_over_lists(values) for name, values in self.values.items()}
        return {n: Mean(m.mean, m.standard_error, m.count) for n, m in found.items()}

    def notes(self) -> list[str]:
        """Who is not measured like everybody else, in words."""
        unseen = "unseen items except their positives"
        cases = {
            "no test positives and {are} left out.": self.without_positives,
            f"no {unseen} and {{are}} left out.": self.without_negatives,
            f"fewer than {self.k} {unseen}, all of which are ranked.": self.few_negatives,
        }
        said = [
            (f"1 user has {what}" if n == 1 else f"{n} users have {what}").format(
                are="is" if n == 1 else "are"
            )
            for what, n in cases.items()
            if n
        ]
        if self.values and all(values.isnan().all() for values in self.values.values()):
            said.append("No user is left: there is nothing to measure.")
        return said


def evaluate(
    scores: Scorer,
    wanted: Pairs,
    seen: Pairs | None,
    measures: Sequence[Measure],
    train: Pairs | None = None,
) -> Evaluation:
    """Rank what every user had not seen, a block of users at a time, and evaluate by ``wanted``.

    The users × items scores are never all in memory. Tied scores count as the mean over their
    orders, whatever the order of the items is. With ``train`` the recommended items are measured,
    too, at the largest k of the measures (:class:`Exposure`).
    """
    users = (wanted.counts > 0).nonzero().squeeze(1)
    values = {str(m): torch.full((wanted.n_users,), math.nan).double() for m in measures}
    k = max((measure.k or 1 for measure in measures), default=1)
    few = without = 0
    ranks = max((measure.ranks for measure in measures), default=1)
    whole = any(measure.k is None for measure in measures)
    asked = max((m.k for m in measures if m.k is not None), default=_SHOWN)
    shown = None if train is None else Exposure(scores, seen, train, asked)
    ranks = ranks if shown is None else max(ranks, shown.ranks)
    for some, top, items in first_ranks(scores, users, wanted, seen, ranks, whole=whole):
        if shown is not None:
            shown.update(some, items, top.scores)
        nothing, tied = top.negatives <= 0, top.tied
        few += int((~nothing & (top.negatives < k)).sum())
        without += int(nothing.sum())
        among = top.rows(tied) if bool(tied.any()) else None
        for measure in measures:
            found = measure.untied(top)
            if among is not None:
                found[tied] = measure.tied(among)
            values[str(measure)][some] = found.masked_fill(nothing, math.nan)
    catalog = {} if shown is None else shown.metrics()
    return Evaluation(values, wanted.n_users - len(users), few, k, without, catalog)


def popularity(train: Pairs) -> Scores:
    """What everybody takes, for everybody: the least a recommender has to beat."""
    counts = torch.bincount(train.items, minlength=train.n_items).float()
    return Scores(lambda users: torch.ones(len(users), 1), counts.unsqueeze(1))
