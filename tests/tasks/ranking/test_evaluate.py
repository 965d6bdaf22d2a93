from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, P, nDCG

from rankwise.data import DataError
from rankwise.data.letor import Letor, read_letor
from rankwise.tasks.ranking import (
    UsageError,
    as_qrels,
    as_run,
    evaluate_lists,
    evaluate_run,
    tied_queries,
    tied_run_queries,
)
from rankwise.tasks.ranking.evaluate import known_metrics

DATA = Letor(
    Path("small"),
    np.zeros((5, 1), dtype=np.float32),
    np.array([2.0, 0, 1, 0, 0]),
    np.array([0, 0, 0, 1, 1]),
    ("a", "b"),
)
SCORES = np.array([1.0, 2.0, 0.0, 1.0, 0.0])


def test_graded_metrics_see_relevances_and_others_two_classes():
    found = evaluate_lists(SCORES, DATA, ["ndcg@3", "ap", "mrr"])
    best = 3 + 1 / np.log2(3)
    assert found["ndcg@3"].values[0] == pytest.approx((3 / np.log2(3) + 1 / 2) / best)
    assert found["ap"].values[0] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert evaluate_lists(SCORES, DATA, ["ap"], relevant=2)["ap"].values[0] == pytest.approx(1 / 2)


def test_queries_without_relevant_documents_are_left_out_and_counted():
    found = evaluate_lists(SCORES, DATA, ["mrr"])["mrr"]
    assert np.isnan(found.values[1])
    assert found.plain == {"value": 0.5, "standard_error": None, "queries": 1, "left_out": 1}
    assert str(found) == "0.5000"


def some_lists(seed=0, queries=40):
    """Lists of which every fifth has only relevant documents, and every seventh has none."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, size=queries)
    target = rng.integers(0, 4, size=sizes.sum()).astype(np.float64)
    groups = np.repeat(np.arange(queries), sizes)
    target = np.where(groups % 5 == 0, np.maximum(target, 1), target)
    target = np.where(groups % 7 == 3, 0, target)
    names = tuple(str(query) for query in range(queries))
    data = Letor(Path("lists"), np.zeros((len(target), 1), np.float32), target, groups, names)
    return data, rng.normal(size=len(target))


@pytest.mark.parametrize("relevant", [1, 2])
def test_lists_and_the_run_written_of_them_have_one_number(relevant):
    data, scores = some_lists()
    names = ["ndcg@10", "ndcg(gain=linear)", "ap", "mrr", "precision@5", "recall@3", "hit@2"]
    lists = evaluate_lists(scores, data, names, relevant=relevant)
    run = evaluate_run(as_run(data, scores), as_qrels(data), names, relevant=relevant)
    for name in names:
        np.testing.assert_allclose(lists[name].values, run[name].values, rtol=1e-12)
        assert lists[name].plain["queries"] == run[name].plain["queries"]


def test_every_query_with_a_relevant_document_counts_as_in_ir_measures():
    data, scores = some_lists()
    qrels, run = as_qrels(data), as_run(data, scores)
    peers = {"ap": AP, "mrr": RR, "precision@5": P @ 5, "ndcg(gain=linear)": nDCG}
    ours = evaluate_lists(scores, data, list(peers))
    with_relevant = {q: docs for q, docs in qrels.items() if any(docs.values())}
    theirs = ir_measures.calc_aggregate(list(peers.values()), with_relevant, run)
    for name, peer in peers.items():
        assert ours[name].mean == pytest.approx(theirs[peer], abs=1e-6)
        assert ours[name].plain["queries"] == len(with_relevant)
        assert ours[name].plain["left_out"] == len(qrels) - len(with_relevant) > 0


def test_metrics_of_pairs_need_both_relevant_and_other_documents():
    data, scores = some_lists()
    found = evaluate_lists(scores, data, ["ap", "auc", "pap@2"])
    assert [found[name].pairs for name in found] == [False, True, True]
    means = np.bincount(data.groups, weights=data.target > 0) / np.bincount(data.groups)
    assert found["auc"].plain["queries"] == ((means > 0) & (means < 1)).sum()
    assert found["ap"].plain["queries"] == (means > 0).sum()


def test_queries_with_ties_that_matter_are_counted_the_same_in_lists_and_runs():
    data, scores = some_lists()
    assert tied_queries(scores, data) == tied_run_queries(as_run(data, scores), as_qrels(data)) == 0
    coarse = np.round(scores)
    tied = tied_queries(coarse, data)
    assert tied == tied_run_queries(as_run(data, coarse), as_qrels(data)) > 0
    # In single precision, as trec_eval compares scores.
    assert tied_queries(1 + 1e-12 * coarse, data) >= tied


def test_metrics_are_shown_under_the_names_of_rankwise():
    found = evaluate_lists(SCORES, DATA, ["map", "P_2", "nDCG@3", "precision@2"])
    assert list(found) == ["ap", "precision@2", "ndcg@3"]
    assert [each.name for each in found.values()] == list(found)


def test_names_that_are_none():
    with pytest.raises(UsageError, match="nddcg"):
        evaluate_lists(SCORES, DATA, ["nddcg"])


def test_a_relevance_whose_gain_is_infinite_is_named(tmp_path):
    path = tmp_path / "test.txt"
    path.write_text("1 qid:1 1:1\n# so many\n2000 qid:1 1:2\n0 qid:1 1:3\n")
    data = read_letor(path)
    scores = np.array([1.0, 3.0, 2.0])
    with pytest.raises(DataError) as caught:
        evaluate_lists(scores, data, ["ap", "ndcg@5"])
    assert f"{path}: line 3: the relevance 2000 is too large for ndcg@5" in str(caught.value)
    gained, best = 2000 + 1 / 2, 2000 + 1 / np.log2(3)
    found = evaluate_lists(scores, data, ["ndcg(gain=linear)"])["ndcg(gain=linear)"]
    assert found.mean == pytest.approx(gained / best)
    made = replace(DATA, target=np.array([2.0, 0, 1001, 0, 0]))
    with pytest.raises(DataError, match="small: row 3: the relevance 1001 is too large"):
        evaluate_lists(SCORES, made, ["ndcg"])


def test_options_that_are_wrong():
    with pytest.raises(UsageError, match="k must be a whole number >= 1, got 0"):
        known_metrics(["ap", "ndcg@0"])
    with pytest.raises(UsageError, match="relevant must be a finite number above 0, got nan"):
        evaluate_lists(SCORES, DATA, ["ap"], relevant=float("nan"))


def test_a_relevance_above_the_scale_of_err_says_which(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("0 qid:1 1:1\n6 qid:1 1:2\n")
    with pytest.raises(DataError, match=r"line 2: the relevance 6 is above the scale of err@10, 4"):
        evaluate_lists(np.zeros(2), read_letor(path), ["err@10"])
    found = evaluate_lists(np.array([0.0, 1]), read_letor(path), ["err@10(max_relevance=6)"])
    assert found["err@10(max_relevance=6)"].mean == 63 / 64
