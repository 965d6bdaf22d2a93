from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankwise.data import DataError
from rankwise.data.letor import Letor, read_letor
from rankwise.tasks.ranking import UsageError, judged
from rankwise.tasks.ranking.judging import require_metrics

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


def test_a_relevance_whose_gain_is_infinite_is_named(tmp_path):
    path = tmp_path / "test.txt"
    path.write_text("1 qid:1 1:1\n# so many\n2000 qid:1 1:2\n0 qid:1 1:3\n")
    data = read_letor(path)
    scores = np.array([1.0, 3.0, 2.0])
    with pytest.raises(DataError) as caught:
        judged(scores, data, ["ap", "ndcg@5"])
    assert f"{path}: line 3: the relevance 2000 is too large for ndcg@5" in str(caught.value)
    gained, best = 2000 + 1 / 2, 2000 + 1 / np.log2(3)
    found = judged(scores, data, ["ndcg(gain=linear)"])["ndcg(gain=linear)"]
    assert found.mean == pytest.approx(gained / best)
    made = replace(DATA, target=np.array([2.0, 0, 1001, 0, 0]))
    with pytest.raises(DataError, match="small: row 3: the relevance 1001 is too large"):
        judged(SCORES, made, ["ndcg"])


def test_options_that_are_wrong():
    with pytest.raises(UsageError, match="k must be a whole number >= 1, got 0"):
        require_metrics(["ap", "ndcg@0"])
    with pytest.raises(UsageError, match="relevant must be a finite number, got nan"):
        judged(SCORES, DATA, ["ap"], relevant=float("nan"))
