from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankwise.data.letor import Letor
from rankwise.tasks.ranking import UsageError, judged

DATA = Letor(
    Path("small"),
    np.zeros((5, 1), dtype=np.float32),
    np.array([2.0, 0, 1, 0, 0]),
    np.array([0, 0, 0, 1, 1]),
    ("a", "b"),
)
SCORES = np.array([1.0, 2.0, 0.0, 1.0, 0.0])


def test_graded_metrics_see_relevances_and_others_two_classes():
    found = judged(SCORES, DATA, ["ndcg@3", "ap", "mrr"])
    best = 3 + 1 / np.log2(3)
    assert found["ndcg@3"].values[0] == pytest.approx((3 / np.log2(3) + 1 / 2) / best)
    assert found["ap"].values[0] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert judged(SCORES, DATA, ["ap"], relevant=2)["ap"].values[0] == pytest.approx(1 / 2)


def test_queries_without_relevant_documents_are_left_out_and_counted():
    found = judged(SCORES, DATA, ["mrr"])["mrr"]
    assert np.isnan(found.values[1])
    assert found.plain == {"value": 0.5, "standard_error": None, "queries": 1, "left_out": 1}
    assert str(found) == "0.5000"


def test_names_that_are_none():
    with pytest.raises(UsageError, match="nddcg"):
        judged(SCORES, DATA, ["nddcg"])
