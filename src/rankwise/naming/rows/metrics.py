"""The metrics by name."""

from __future__ import annotations

from rankwise.naming.entry import MetricEntry


def _row(names: str, function: str, what: str, *options: str) -> MetricEntry:
    at = "k" if "k" in options else None
    return MetricEntry(tuple(names.split()), f"rankwise.metrics:{function}", what, options, at)


METRICS = (
    _row("ap", "average_precision", "the mean over the positives of the precision at their score"),
    _row("auprc", "auprc", "average precision at another share of positives", "prior"),
    _row("auc auroc", "auroc", "the share of positive–negative pairs in the right order"),
    _row(
        "opauc",
        "partial_auroc",
        "AUC over a range of false positive rates: against the highest negatives",
        "max_fpr",
        "min_fpr",
    ),
    _row(
        "tpauc",
        "two_way_partial_auroc",
        "AUC of the lowest positives against the highest negatives",
        "min_tpr",
        "max_fpr",
    ),
    _row("ndcg", "ndcg", "discounted gain of the ranking over that of the best", "k", "gain"),
    _row("pap", "pap_at_k", "AUC of the best k positives against the best k negatives", "k"),
    _row("precision", "precision_at_k", "positives among the first k, over k", "k"),
    _row("recall", "recall_at_k", "positives among the first k, over all positives", "k"),
    _row("hit", "hit_at_k", "is a positive among the first k: Recall@k of image retrieval", "k"),
    _row("mrr", "mean_reciprocal_rank", "1 over the rank of the first positive"),
    _row("map@r", "map_at_r", "mean precision over the first R ranks, R the number of positives"),
    _row("r_precision", "r_precision", "the precision of the first R, R the number of positives"),
)
