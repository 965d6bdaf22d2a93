import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, P, Qrel, R, Rprec, ScoredDoc, Success, nDCG

from rankwise import metrics as m


def test_by_hand(ranked):
    case = ranked(0, 1, 1, 0, 1, 0)
    assert m.precision_at_k(*case, k=4) == 2 / 4
    assert m.precision_at_k(*case, k=10) == 3 / 10  # over k, as trec_eval
    assert m.recall_at_k(*case, k=4) == pytest.approx(2 / 3)
    assert (m.hit_at_k(*case, k=1), m.hit_at_k(*case, k=2)) == (0, 1)
    assert m.r_precision(*case) == pytest.approx(2 / 3)
    assert m.map_at_r(*case) == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert m.mean_reciprocal_rank(*case) == 1 / 2
    assert [m.mean_reciprocal_rank(*case, k=k) for k in (1, 2)] == [0, 1 / 2]


@pytest.mark.parametrize("target", [(1, 1, 0, 1, 1, 1), (1, 1, 1, 0, 1, 1)])
def test_precision_at_6_of_table_1(ranked, target):
    assert m.precision_at_k(*ranked(*target, 0, 0, 0, 0, 0), k=6) == pytest.approx(5 / 6)


def test_one_positive_among_four_tied():
    scores, target = np.zeros(4), np.array([0, 1, 0, 0])
    assert m.precision_at_k(scores, target, k=2) == pytest.approx(2 * (1 / 4) / 2)
    assert m.hit_at_k(scores, target, k=3) == pytest.approx(3 / 4)
    assert m.mean_reciprocal_rank(scores, target) == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert m.mean_reciprocal_rank(scores, target, k=2) == pytest.approx((1 + 1 / 2) / 4)
    assert m.mean_reciprocal_rank(scores, target, ties="against") == pytest.approx(1 / 4)
    assert m.map_at_r(scores, target) == pytest.approx(1 / 4)


def test_many_ties_stay_accurate():
    n, k = 100_000, 1000
    target = np.zeros(n)
    target[:1] = 1
    assert m.hit_at_k(np.zeros(n), target, k=k) == pytest.approx(k / n, rel=1e-6)
    harmonic = (1 / np.arange(1, n + 1)).sum()
    assert m.mean_reciprocal_rank(np.zeros(n), target) == pytest.approx(harmonic / n, rel=1e-6)


@pytest.fixture(scope="module")
def queries():
    """Ten lists without ties (trec_eval breaks them by document id), graded 0 to 2."""
    rng = np.random.default_rng(0)
    grades = rng.choice([0, 0, 0, 1, 2], size=(10, 40))
    grades[:, :2] = [0, 1]
    return rng.permuted(np.tile(np.arange(40.0), (10, 1)), axis=1), grades


@pytest.mark.parametrize(
    ("measure", "metric", "options"),
    [
        (P @ 5, m.precision_at_k, {"k": 5}),
        (R @ 5, m.recall_at_k, {"k": 5}),
        (Success @ 3, m.hit_at_k, {"k": 3}),
        (RR, m.mean_reciprocal_rank, {}),
        (RR @ 2, m.mean_reciprocal_rank, {"k": 2}),
        (Rprec, m.r_precision, {}),
        (AP, m.average_precision, {}),
        (nDCG, m.ndcg, {"gain": "linear"}),
        (nDCG @ 10, m.ndcg, {"gain": "linear", "k": 10}),
    ],
    ids=lambda value: str(value) if not callable(value) else value.__name__,
)
def test_equal_to_ir_measures(queries, measure, metric, options):
    scores, grades = queries
    pairs = [(str(q), f"d{d}", q, d) for q in range(10) for d in range(40)]
    qrels = [Qrel(query, doc, int(grades[q, d])) for query, doc, q, d in pairs]
    run = [ScoredDoc(query, doc, float(scores[q, d])) for query, doc, q, d in pairs]
    found = {int(x.query_id): x.value for x in ir_measures.iter_calc([measure], qrels, run)}
    target = grades if metric is m.ndcg else (grades > 0).astype(int)
    values = metric(scores, target, average="none", **options)
    assert values == pytest.approx([found[q] for q in range(10)], abs=1e-9)
