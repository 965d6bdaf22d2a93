from __future__ import annotations

import inspect

import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from rankwise.naming import metric
from rankwise.naming.entry import load
from rankwise.naming.rows.metrics import METRICS

TARGET = torch.tensor([1, 0, 1, 0, 0, 1, 0, 0])
SCORES = torch.tensor([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])


@pytest.mark.parametrize("entry", METRICS, ids=lambda entry: entry.names[0])
def test_its_options_are_arguments_of_its_function(entry) -> None:
    assert set(entry.options) <= set(inspect.signature(load(entry)).parameters)
    assert entry.at is None or entry.at in entry.options


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ap", average_precision_score(TARGET, SCORES)),
        ("auroc", roc_auc_score(TARGET, SCORES)),
        ("precision@4", 2 / 4),
        ("recall@4", 2 / 3),
        ("hit@1", 1.0),
        ("mrr", 1.0),
        ("r_precision", 2 / 3),
        ("map@r", (1 / 1 + 2 / 3) / 3),
        # The highest two of five negatives against three positives: 2 + 1 + 0 of 6 pairs.
        ("opauc(max_fpr=.4)", 3 / 6),
        # The lowest two positives against the highest two negatives: 1 + 0 of 4 pairs.
        ("tpauc(min_tpr=.34, max_fpr=.4)", None),
    ],
)
def test_a_name_is_the_metric_it_says(name: str, expected: float | None) -> None:
    found = float(metric(name).value(SCORES, TARGET))
    if expected is None:
        assert 0 <= found < float(metric("opauc(max_fpr=.4)").value(SCORES, TARGET))
    else:
        assert found == pytest.approx(expected)
