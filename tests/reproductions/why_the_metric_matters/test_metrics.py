"""Every metric of the report against its definition, by loops over the list."""

from __future__ import annotations

import math

import pytest
import torch

from reproductions.why_the_metric_matters.examples import EXAMPLES, FIGURE_1
from reproductions.why_the_metric_matters.metrics import (
    LOOKS_AT,
    PRIOR,
    accuracy,
    accuracy_of_top,
    measures,
    value_of,
)


def dcg(labels):
    return sum(label / math.log2(1 + rank) for rank, label in enumerate(labels, start=1))


def pairs(labels, positives, negatives):
    """Share of pairs of these ranks in which the positive is above."""
    right = sum(i < j for i in positives for j in negatives)
    return right / (len(positives) * len(negatives))


def by_hand(family, labels, k, max_fpr):
    """A metric of labels from the highest score down."""
    up = [rank for rank, label in enumerate(labels, start=1) if label]
    down = [rank for rank, label in enumerate(labels, start=1) if not label]
    top = labels[:k] if k else labels
    few = max(1, math.floor(len(down) * max_fpr + 1e-9))
    precision = [sum(labels[:rank]) / rank for rank in up]
    odds = (1 - PRIOR) / PRIOR
    rates = [(sum(j < i for j in down) / len(down), sum(j <= i for j in up) / len(up)) for i in up]
    return {
        "AUROC": lambda: pairs(labels, up, down),
        "pAUC": lambda: pairs(labels, up, down[:few]),
        "two-way pAUC": lambda: pairs(labels, up[-math.ceil(len(up) / 2) :], down[:few]),
        "top-push": lambda: pairs(labels, up, down[:1]),
        "AP": lambda: sum(precision) / len(up),
        "AUPRC": lambda: sum(tpr / (tpr + odds * fpr) for fpr, tpr in rates) / len(up),
        "NDCG": lambda: dcg(labels) / dcg([1] * len(up)),
        "NDCG@k": lambda: dcg(top) / dcg([1] * min(k, len(up))),
        "R-precision": lambda: sum(labels[: len(up)]) / len(up),
        "MAP@R": lambda: (
            sum(p for p, r in zip(precision, up, strict=True) if r <= len(up)) / len(up)
        ),
        "MRR": lambda: 1 / up[0],
        "precision@k": lambda: sum(top) / k,
        "recall@k": lambda: sum(top) / len(up),
        "hit@k": lambda: float(any(top)),
        "pAp@k": lambda: pairs(labels, up[: min(len(up), k)], down[:k]),
    }[family]()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.source)
def test_every_metric_is_its_definition(example):
    over, under = example.max_fpr
    seen = set()
    for ranking in example.rankings:
        for measure in measures(example):
            if measure.family == "accuracy":
                continue
            _, _, k = measure.name.partition("@")
            cut = int(k) if k.isdigit() else 0
            expected = by_hand(measure.family, ranking.labels, cut, over / under)
            assert value_of(measure, *ranking.tensors()) == pytest.approx(expected, abs=1e-12)
            seen.add(measure.family)
    assert seen == set(LOOKS_AT) - {"accuracy"}


def test_accuracy_counts_the_right_side():
    scores, target = torch.tensor([0.9, 0.5, 0.4, 0.1]), torch.tensor([1, 0, 1, 0])
    for threshold, right in ((1.0, 2), (0.5, 3), (0.45, 2), (0.3, 3), (0.0, 2)):
        expected = float(((scores > threshold).long() == target).sum()) / 4
        assert expected == right / 4
        assert float(accuracy(scores, target, threshold=threshold)) == pytest.approx(expected)
    assert float(accuracy_of_top(scores, target, k=3)) == pytest.approx(3 / 4)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.source)
def test_accuracy_has_a_threshold_or_a_cut_for_every_ranking(example):
    own = [measure for measure in measures(example) if measure.family == "accuracy"]
    for ranking in example.rankings:
        assert any(ranking.given or not measure.given_only for measure in own)


def test_names_are_different_and_pap_needs_k_negatives():
    for example in EXAMPLES:
        names = [measure.name for measure in measures(example)]
        assert len(set(names)) == len(names)
    assert {m.name for m in measures(FIGURE_1) if m.family == "pAp@k"} == {"pAp@1", "pAp@5"}
