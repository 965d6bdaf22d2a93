from __future__ import annotations

import pytest
from tests.naming.rows.ranked import wants_what_its_metric_wants

import rankwise.baselines
from rankwise.naming.rows.baselines import BASELINES

OTHERS = ("ldam", "xbm")  # logits of several classes, embeddings


@pytest.mark.parametrize(
    "entry", [e for e in BASELINES if e.names[0] not in OTHERS], ids=lambda e: e.names[0]
)
def test_the_best_order_has_the_least_loss(entry) -> None:
    assert wants_what_its_metric_wants(entry)


def test_every_baseline_of_the_package_has_a_row() -> None:
    named = {entry.path.partition(":")[2] for entry in BASELINES}
    shared = {"PairwiseAUC", "MultiClassAUC"}  # objectives that are baselines, too
    assert set(rankwise.baselines.__all__) - shared == named
