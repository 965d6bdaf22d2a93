from __future__ import annotations

import math
import shutil
import warnings

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, ERR, RR, Bpref, P, R, Success, infAP, nDCG
from tests.tasks.ranking.cases import random_files

from rankwise.data import DataError
from rankwise.data.letor import read_letor, read_qrels, read_run
from rankwise.metrics import compare_lists, inst, ndcg
from rankwise.tasks.ranking import (
    UsageError,
    as_qrels,
    as_run,
    compare_runs,
    comparison_table,
    evaluate_run,
    run_remarks,
)

PEERS = {
    "ndcg@10(gain=linear)": nDCG @ 10,
    "ndcg(gain=linear)": nDCG,
    "ap": AP,
    "ap@7": AP @ 7,
    "mrr": RR,
    "precision@5": P @ 5,
    "recall@20": R @ 20,
    "hit@3": Success @ 3,
    "bpref": Bpref,
    "infap": infAP,
}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_files_give_the_same_numbers_as_ir_measures(tmp_path, seed, ties):
    run, qrels = random_files(tmp_path, seed, ties)
    ours = evaluate_run(read_run(run), read_qrels(qrels), list(PEERS))
    theirs = ir_measures.iter_calc(
        list(PEERS.values()),
        list(ir_measures.read_trec_qrels(str(qrels))),
        list(ir_measures.read_trec_run(str(run))),
    )
    by_query = {(m.measure, m.query_id): m.value for m in theirs}
    for name, peer in PEERS.items():
        for place, query in enumerate(read_qrels(qrels)):
            expected = by_query.get((peer, query), 0.0)
            assert ours[name].values[place] == pytest.approx(expected, abs=1e-6), (name, query)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is written in perl")
def test_err_of_the_same_files_is_that_of_gdeval(tmp_path):
    run, qrels = (read(path) for read, path in zip(
        (read_run, read_qrels), random_files(tmp_path, 0, False), strict=True))  # fmt: skip
    numbered = [{q[1:]: own for q, own in each.items()} for each in (run, qrels)]
    theirs = ir_measures.iter_calc([ERR @ 10], numbered[1], numbered[0])
    by_query = {f"q{m.query_id}": m.value for m in theirs}
    ours = evaluate_run(run, qrels, ["err@10"])["err@10"]
    for place, query in enumerate(qrels):
        expected = by_query.get(query, 0.0)
        if not math.isnan(ours.values[place]):
            assert ours.values[place] == pytest.approx(expected, abs=6e-6), query
    assert ours.over.count == 30


def test_metrics_of_a_user_who_reads_the_run():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"x": 1.0}}
    qrels = {"q": {"a": 0, "b": 2, "z": 1}, "r": {"y": 1}, "s": {"y": 1}}
    names = ["rbp(p=.5)", "rbp@1", "inst", "err(max_relevance=2)"]
    found = {name: each.values for name, each in evaluate_run(run, qrels, names).items()}
    assert list(found) == ["rbp(p=0.5)", "rbp@1", "inst", "err(max_relevance=2)"]
    assert found["rbp(p=0.5)"].tolist() == [0.25, 0, 0]
    assert found["rbp@1"].tolist() == [0, 0, 0]
    assert found["err(max_relevance=2)"].tolist() == pytest.approx([3 / 4 / 2, 0, 0])
    alone = inst(np.array([3.0, 2, 1]), np.array([0, 1, 0]))
    assert found["inst"].tolist() == pytest.approx([alone, 0, 0])


def test_documents_in_the_pool_without_a_judgment():
    run = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0}}
    qrels = {"q": {"a": 0, "b": -1, "c": 1, "x": 1, "y": 0}}  # d is outside of the pool
    ours = evaluate_run(run, qrels, ["bpref", "infap"])
    assert ours["bpref"].values[0] == pytest.approx((1 - 1 / 2) / 2)
    assert ours["infap"].values[0] == pytest.approx((1 / 3) / 2, abs=1e-5)


def test_a_relevance_above_the_scale_of_err():
    run, qrels = {"q": {"a": 1.0}}, {"q": {"a": 5}}
    with pytest.raises(DataError, match=r"'a' for query 'q' .* max_relevance=4: 5; ask for"):
        evaluate_run(run, qrels, ["err@10"])
    assert (
        evaluate_run(run, qrels, ["err(max_relevance=5)"])["err(max_relevance=5)"].mean == 31 / 32
    )


def test_exponential_gains_are_those_of_the_metric(tmp_path):
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    qrels = {"q": {"a": 0, "b": 2, "c": 1}}
    ours = evaluate_run(run, qrels, ["ndcg@2"])["ndcg@2"]
    assert ours.values[0] == pytest.approx(
        float(ndcg(np.array([3.0, 2, 1]), np.array([0.0, 2, 1]), k=2))
    )


def test_a_relevance_whose_gain_is_infinite():
    run, qrels = {"q": {"a": 1.0, "b": 2.0}}, {"q": {"a": 2000, "b": 1}}
    with pytest.raises(
        DataError, match=r"document 'a' for query 'q' is too large .* 2000, at most"
    ):
        evaluate_run(run, qrels, ["ap", "ndcg@5"])
    assert evaluate_run(run, qrels, ["ap"])["ap"].mean == 1
    gained, best = 1 + 2000 / np.log2(3), 2000 + 1 / np.log2(3)
    found = evaluate_run(run, qrels, ["ndcg(gain=linear)"])["ndcg(gain=linear)"]
    assert found.mean == pytest.approx(gained / best)


def test_scores_beyond_single_precision_stand_first_without_a_word():
    run, qrels = {"q": {"a": 3e38, "b": 1e60, "c": -1e60}}, {"q": {"b": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate_run(run, qrels, ["mrr"])["mrr"].mean == 1


def test_a_query_without_relevant_documents_is_left_out():
    found = evaluate_run({"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 0}, "r": {"a": 1}}, ["ap"])
    assert found["ap"].plain == {"value": 1.0, "standard_error": None, "queries": 1, "left_out": 1}


def test_lists_become_files_and_back(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("1 qid:7 1:1 #docid = x\n0 qid:7 1:2\n")
    data = read_letor(path)
    assert as_run(data, np.array([0.5, -1])) == {"7": {"x": 0.5, "7-2": -1}}
    assert as_qrels(data) == {"7": {"x": 1, "7-2": 0}}
    path.write_text("0.5 qid:7 1:1\n0 qid:7 1:2\n")
    with pytest.raises(UsageError, match="qrels must have whole numbers"):
        as_qrels(read_letor(path))


def test_a_document_that_stands_twice_in_a_list_is_not_lost(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("1 qid:7 1:1 # good\n0 qid:7 1:2 # bad\n2 qid:7 1:3 # good\n")
    data = read_letor(path)
    for made in (lambda: as_run(data, np.zeros(3)), lambda: as_qrels(data)):
        with pytest.raises(DataError, match="line 3: document 'good' was already there for query"):
            made()


def test_queries_of_one_file_alone_are_remarked():
    run, qrels = {"a": {}, "b": {}}, {"b": {}, "c": {}, "d": {}}
    assert run_remarks(run, qrels, "run.txt", "qrels.txt") == [
        "run.txt: 2 of 3 judged queries not in the run, counted as 0",
        "run.txt: 1 of 2 queries without judgments, left out",
    ]
    assert run_remarks(run, run, "run.txt", "qrels.txt") == []
    with pytest.raises(UsageError, match="has none of the 1 queries of qrels"):
        run_remarks(run, {"x": {}}, "run.txt", "qrels.txt")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("map", "ap"),
        ("MAP", "ap"),
        ("map_cut_7", "ap@7"),
        ("AP@7", "ap@7"),
        ("recip_rank", "mrr"),
        ("RR", "mrr"),
        ("RR@10", "mrr@10"),
        ("P_5", "precision@5"),
        ("P@5", "precision@5"),
        ("R@20", "recall@20"),
        ("recall_20", "recall@20"),
        ("success_3", "hit@3"),
        ("nDCG@10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg@10(gain=linear)"),
        ("ERR@10", "err@10"),
        ("RBP(p=0.5)", "rbp(p=0.5)"),
        ("Bpref", "bpref"),
        ("infAP", "infap"),
    ],
)
def test_names_of_trec_eval_and_ir_measures_are_shown_under_ours(tmp_path, typed, name):
    run, qrels = (read(path) for read, path in zip(
        (read_run, read_qrels), random_files(tmp_path, 0, False), strict=True))  # fmt: skip
    found = evaluate_run(run, qrels, [typed])
    assert list(found) == [found[name].name] == [name]
    np.testing.assert_array_equal(found[name].values, evaluate_run(run, qrels, [name])[name].values)


def test_a_cut_of_the_reciprocal_rank_counts_hits_alone(tmp_path):
    """Not compared with ir-measures, whose RR@k comes from a program with other ties."""
    run, qrels = (read(path) for read, path in zip(
        (read_run, read_qrels), random_files(tmp_path, 0, False), strict=True))  # fmt: skip
    found = evaluate_run(run, qrels, ["mrr", "mrr@3", "hit@3"])
    expected = found["mrr"].values * found["hit@3"].values
    np.testing.assert_array_equal(found["mrr@3"].values, expected)
    assert 0 < np.nanmean(expected) < np.nanmean(found["mrr"].values)


@pytest.mark.parametrize("name", ["auc", "precision", "ndcg(gain=cubic)", "ap(gain=linear)", "@"])
def test_metrics_that_are_none(name):
    with pytest.raises(UsageError):
        evaluate_run({}, {}, [name])


@pytest.mark.parametrize("name", ["ndcg@0", "ap@0", "precision@0", "recall@0", "hit@0"])
def test_no_ranks_are_none_to_judge_by(name):
    with pytest.raises(UsageError, match=f"k must be a whole number >= 1, got '{name}'"):
        evaluate_run({"q": {"a": 1.0}}, {"q": {"a": 1}}, [name])


@pytest.fixture
def files(tmp_path):
    first, qrels = random_files(tmp_path, 0, False)
    run = read_run(first)
    other = {
        query: {
            d: s + (0.7 if read_qrels(qrels)[query].get(d, 0) > 0 else 0) for d, s in own.items()
        }
        for query, own in run.items()
    }
    del other["q7"]
    return run, other, read_qrels(qrels)


def test_the_values_are_those_of_evaluation_and_missing_queries_count_0(files):
    run, other, qrels = files
    names = ["ndcg@10", "ap", "P_5"]
    found = compare_runs(run, other, qrels, names)
    assert list(found) == ["ndcg@10", "ap", "precision@5"]
    a, b = (evaluate_run(each, qrels, names) for each in (run, other))
    for name, each in found.items():
        assert each.found.value_a == pytest.approx(a[name].mean)
        assert each.found.value_b == pytest.approx(b[name].mean)
        assert each.found == compare_lists(a[name].values, b[name].values)
        assert each.queries == a[name].plain["queries"] == 30
        assert each.wins_a == (a[name].values > b[name].values + 1e-12).sum() >= 1  # q7
        assert each.wins_a + each.wins_b + each.equal == 30
    assert found["ap"].found.p_value < 0.01  # the other run has the relevant documents higher
    assert found["ap"].found.high < 0
    back = compare_runs(other, run, qrels, ["ap"])["ap"]
    assert back.found.difference == pytest.approx(-found["ap"].found.difference)
    assert (back.wins_a, back.wins_b) == (found["ap"].wins_b, found["ap"].wins_a)


def test_a_run_does_not_differ_from_itself(files):
    run, _, qrels = files
    each = compare_runs(run, run, qrels, ["ap"])["ap"]
    assert (each.found.difference, each.found.p_value, each.equal) == (0, 1, each.queries)


def test_one_query_decides_nothing():
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 0}}
    each = compare_runs({"q": {"a": 1.0}}, {"q": {"b": 1.0}}, qrels, ["mrr"])["mrr"]
    assert (each.found.difference, each.found.p_value, each.queries) == (1, 1, 1)
    assert math.isnan(each.found.low)
    assert each.plain["low"] is None
    (row,) = comparison_table({"mrr": each}, "x", "y").rows
    assert row == ("mrr", "1.0000", "0.0000", "+1.0000", "–", "1.000", "1/0/0")


def test_the_table_says_how_it_was_made(files):
    run, other, qrels = files
    table = comparison_table(compare_runs(run, other, qrels, ["ap"]), "old.txt", "new.txt")
    assert table.header[:4] == ("metric", "A", "B", "A − B")
    for words in ("A is old.txt, B is new.txt", "30 queries with a relevant document", "bootstrap",
                  "randomization test"):  # fmt: skip
        assert words in table.caption
    assert np.sum([int(n) for n in table.rows[0][-1].split("/")]) == 30
