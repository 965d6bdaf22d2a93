"""Every metric of rankwise for lists of two classes, with the cuts of an example."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from rankwise import metrics as m
from reproductions.why_the_metric_matters.example import Example

PRIOR = 0.01
"""The share of positives of the population in AUPRC."""

LOOKS_AT = {
    "accuracy": "which items are on the right side of a threshold, or of the cut after the top k",
    "AUROC": "every pair of a positive and a negative, each counting alike",
    "pAUC": "the highest negatives, against all positives",
    "two-way pAUC": "the highest negatives, against the lowest half of the positives",
    "top-push": "the single highest negative, against all positives",
    "AP": "the precision at the rank of every positive, so the head counts most",
    "AUPRC": f"as AP, in a population where {PRIOR:.0%} of the items are positive",
    "NDCG": "the rank of every positive, discounted by its logarithm",
    "NDCG@k": "the same within the top k",
    "R-precision": "the number of positives in the top n⁺",
    "MAP@R": "the same as AP, within the top n⁺",
    "MRR": "the rank of the first positive",
    "precision@k": "the number of positives in the top k",
    "recall@k": "the share of the positives that is in the top k",
    "hit@k": "whether a positive is in the top k",
    "pAp@k": "the best min(n⁺, k) positives, against the highest k negatives",
}
"""What each family of metrics looks at."""


@dataclass(frozen=True)
class Measure:
    """A metric with its cut; ``given_only``: it needs scores that the paper prints."""

    name: str
    family: str
    compute: Callable[[Tensor, Tensor], Tensor]
    given_only: bool = False


def accuracy(scores: Tensor, target: Tensor, *, threshold: float) -> Tensor:
    """Compute the share of items on the right side of "score > threshold" from the ROC curve."""
    fpr, tpr, thresholds = m.roc_curve(scores, target, drop_intermediate=False)
    at = int((thresholds > threshold).sum()) - 1  # the first threshold is infinite
    positives = int(target.sum())
    negatives = len(target) - positives
    return (tpr[at] * positives + (1 - fpr[at]) * negatives) / len(target)


def accuracy_of_top(scores: Tensor, target: Tensor, *, k: int) -> Tensor:
    """Compute the accuracy if the k highest scores are called positive."""
    return accuracy(scores, target, threshold=float(scores.sort(descending=True).values[k]))


def measures(example: Example) -> list[Measure]:
    """Return the metrics of an example, those of the whole list first."""
    return [*_accuracies(example), *_of_the_list(example), *_of_the_top(example)]


def _accuracies(example: Example) -> Iterator[Measure]:
    everywhere = all(ranking.given for ranking in example.rankings)
    if example.threshold is not None:
        compute = partial(accuracy, threshold=example.threshold)
        name = f"accuracy (score > {example.threshold:g})"
        yield Measure(name, "accuracy", compute, given_only=True)
    if not everywhere:
        k = example.ks[0]
        name = f"accuracy (top {k})"
        yield Measure(name, "accuracy", partial(accuracy_of_top, k=k))


def _of_the_list(example: Example) -> Iterator[Measure]:
    over, under = example.max_fpr
    max_fpr, cut = over / under, f"FPR ≤ {over}/{under}"
    two_way = partial(m.two_way_partial_auroc, min_tpr=0.5, max_fpr=max_fpr)
    yield Measure("AUROC", "AUROC", m.auroc)
    yield Measure(f"pAUC ({cut})", "pAUC", partial(m.partial_auroc, max_fpr=max_fpr))
    yield Measure(f"two-way pAUC (TPR ≥ 1/2, {cut})", "two-way pAUC", two_way)
    yield Measure("top-push", "top-push", partial(m.partial_auroc, max_fpr=1e-9))
    yield Measure("AP", "AP", m.average_precision)
    yield Measure(f"AUPRC (prior {PRIOR:g})", "AUPRC", partial(m.auprc, prior=PRIOR))
    yield Measure("NDCG", "NDCG", m.ndcg)
    yield Measure("R-precision", "R-precision", m.r_precision)
    yield Measure("MAP@R", "MAP@R", m.map_at_r)
    yield Measure("MRR", "MRR", m.mean_reciprocal_rank)


def _of_the_top(example: Example) -> Iterator[Measure]:
    for k in example.ks:
        yield Measure(f"precision@{k}", "precision@k", partial(m.precision_at_k, k=k))
        yield Measure(f"recall@{k}", "recall@k", partial(m.recall_at_k, k=k))
        yield Measure(f"hit@{k}", "hit@k", partial(m.hit_at_k, k=k))
        yield Measure(f"NDCG@{k}", "NDCG@k", partial(m.ndcg, k=k))
        if k <= example.negatives:
            yield Measure(f"pAp@{k}", "pAp@k", partial(m.pap_at_k, k=k))


def value_of(measure: Measure, scores: Tensor, target: Tensor) -> float:
    """Return the metric of one list as a number."""
    return float(torch.as_tensor(measure.compute(scores, target)))
