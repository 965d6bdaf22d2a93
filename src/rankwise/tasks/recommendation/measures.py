"""What a recommender is judged by, computed from the first ranks of every user."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rankwise import metrics
from rankwise._grammar import canonical, parse
from rankwise.errors import UsageError
from rankwise.metrics import at_rank
from rankwise.naming.table import resolve
from rankwise.tasks.recommendation.catalog import Top

MEASURES = ("ndcg", "recall", "precision", "map", "pap", "hit", "mrr")
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
        if self.kind == "map":
            return _tied_map(top, self.k)
        scores, target, weight = top.condensed()
        with warnings.catch_warnings():  # who has few negatives is counted in the evaluation
            warnings.simplefilter("ignore", RuntimeWarning)
            value: Tensor = _TIED[self.kind](
                scores, target, k=self.k, weight=weight, average="none"
            )
        return value


def measure_of(name: str) -> Measure:
    """The measure of a name such as ``"ndcg@10"`` or ``"mrr"``."""
    try:
        typed = parse(name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    own = canonical(typed.name) == "map"  # elsewhere an alias of ap, which has no cut
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


def ranks_needed(measures: list[Measure]) -> int:
    """How many of the first ranks all of them together ask for."""
    return max((measure.ranks for measure in measures), default=1)


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


def _tied_map(top: Top, k: int) -> Tensor:
    """The mean of map@k over the orders of tied items.

    On rank j of a level of m items, p of them positive, with a items and t positives above it, a
    positive stands with probability p/m, and then 1 + t + (j − a − 1)(p − 1)/(m − 1) of the first j
    are expected to be.
    """
    scores, target, weight = top.condensed()
    order = scores.argsort(dim=1, descending=True, stable=True)
    scores, target, weight = (t.gather(1, order) for t in (scores, target, weight))
    same = (scores.unsqueeze(2) == scores.unsqueeze(1)).to(weight.dtype)
    higher = (scores.unsqueeze(2) < scores.unsqueeze(1)).to(weight.dtype)
    size, positives = (torch.einsum("rij,rj->ri", same, w) for w in (weight, weight * target))
    above, hits = (torch.einsum("rij,rj->ri", higher, w) for w in (weight, weight * target))
    through = weight.cumsum(1)
    ranks = torch.arange(1, k + 1, dtype=weight.dtype).expand(len(weight), k).contiguous()
    place = torch.searchsorted(through, ranks).clamp_max(weight.shape[1] - 1)
    m, p, a, t = (values.gather(1, place) for values in (size, positives, above, hits))
    inside = (ranks - a - 1) * (p - 1) / (m - 1).clamp_min(1)
    there = ranks <= through[:, -1:]
    value = torch.where(there & (p > 0), p / m.clamp_min(1) * (1 + t + inside) / ranks, 0.0)
    return value.sum(1) / top.positives.clamp_max(k)


_UNTIED: dict[str, Callable[[Top, int], Tensor]] = {
    "precision": lambda top, k: at_rank.precision(top.hits, k),
    "recall": lambda top, k: at_rank.recall(top.hits, top.positives, k),
    "hit": lambda top, k: at_rank.hit(top.hits, k),
    "map": lambda top, k: at_rank.average_precision(top.hits, top.positives.clamp_max(k), k),
    "ndcg": _ndcg,
    "pap": _pap,
}
_TIED: dict[str, Callable[..., Any]] = {
    "precision": metrics.precision_at_k,
    "recall": metrics.recall_at_k,
    "hit": metrics.hit_at_k,
    "ndcg": metrics.ndcg,
    "pap": metrics.pap_at_k,
}
