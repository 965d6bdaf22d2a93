"""Tests of the metrics over users."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tasks.recommendation.cases import pairs_of

from rankwise import metrics
from rankwise.tasks.recommendation import (
    Scores,
    Settings,
    UsageError,
    evaluate,
    measure_of,
    popularity,
)

NAMES = ["ndcg@3", "recall@3", "precision@3", "map@3", "pap@2", "hit@2", "mrr"]
LIBRARY = {
    "ndcg": metrics.ndcg,
    "recall": metrics.recall_at_k,
    "precision": metrics.precision_at_k,
    "pap": metrics.pap_at_k,
    "hit": metrics.hit_at_k,
}


def direct(name, scores, target):
    """A metric of one list of scores without ties, as it is written down."""
    order = np.argsort(-scores)
    hits = target[order]
    kind, _, k = name.partition("@")
    if kind == "mrr":
        return 1 / (1 + np.argmax(hits))
    k = int(k)
    if kind == "map":
        terms = [hits[: r + 1].mean() for r in range(min(k, len(hits))) if hits[r]]
        return sum(terms) / min(k, hits.sum())
    return float(LIBRARY[kind](torch.tensor(scores), torch.tensor(target), k=k, average="none"))


def mean_over_orders(name, scores, target):
    """The mean over all ways to break ties; for pAp@k half of every tied pair, as the metric is."""
    if name.startswith("pap"):
        return direct(name, scores, target)
    found = []
    for order in permutations(range(len(scores))):
        nudged = scores + 1e-6 * np.array(order)
        found.append(direct(name, nudged, target))
    return float(np.mean(found))


def as_scores(matrix):
    """Any matrix of scores as products of vectors."""
    return Scores(lambda users: torch.eye(len(matrix))[users], torch.tensor(matrix).float().T)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scores_without_ties(name):
    rng = np.random.default_rng(0)
    scores = rng.permuted(np.tile(np.arange(12.0), (40, 1)), axis=1)
    wanted = [rng.choice(12, rng.integers(1, 9), replace=False) for _ in range(40)]
    seen = [rng.choice(np.setdiff1d(np.arange(12), w), 2, replace=False) for w in wanted]
    found = evaluate(
        as_scores(scores), pairs_of(wanted, 12), pairs_of(seen, 12), [measure_of(name)]
    )
    for user in range(40):
        left = np.setdiff1d(np.arange(12), seen[user])
        target = np.isin(left, wanted[user]).astype(float)
        expected = direct(name, scores[user, left], target)
        assert found.values[name][user].item() == pytest.approx(expected), user


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 2), min_size=5, max_size=5), st.integers(1, 3), st.sampled_from(NAMES)
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ties_are_the_mean_over_their_orders(values, positives, name):
    scores = np.array(values, dtype=float)
    wanted = np.arange(0, len(values), 2)[:positives]
    target = np.isin(np.arange(len(values)), wanted).astype(float)
    found = evaluate(
        as_scores(scores[None]), pairs_of([wanted], len(values)), None, [measure_of(name)]
    )
    assert found.values[name].item() == pytest.approx(mean_over_orders(name, scores, target))


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_items_does_not_matter(name):
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 4, (6, 30)).astype(float)
    wanted = [rng.choice(30, 5, replace=False) for _ in range(6)]
    order = rng.permutation(30)
    place = np.argsort(order)
    first = evaluate(as_scores(scores), pairs_of(wanted, 30), None, [measure_of(name)])
    moved = [place[w] for w in wanted]
    second = evaluate(as_scores(scores[:, order]), pairs_of(moved, 30), None, [measure_of(name)])
    torch.testing.assert_close(first.values[name], second.values[name])


def test_a_constant_score_is_worth_its_chance():
    found = evaluate(as_scores(np.zeros((1, 10))), pairs_of([[0, 1]], 10), None,
                     [measure_of("precision@4"), measure_of("pap@4")])  # fmt: skip
    assert found.values["precision@4"].item() == pytest.approx(2 / 10)
    assert found.values["pap@4"].item() == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("nDCG@10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("P@5", "precision@5"),
        ("P_5", "precision@5"),
        ("R@10", "recall@10"),
        ("recall_10", "recall@10"),
        ("MAP@10", "map@10"),
        ("Success@3", "hit@3"),
        ("RR", "mrr"),
        ("recip_rank", "mrr"),
    ],
)
def test_names_that_people_type_are_shown_under_ours(typed, name):
    assert str(measure_of(typed)) == name
    assert Settings(metric=typed).metric == name


@pytest.mark.parametrize("name", ["map_cut_10", "AP@10", "ap"])
def test_average_precision_that_divides_by_all_positives_has_no_counterpart(name):
    with pytest.raises(UsageError, match=r"has no counterpart here: .* is map@k"):
        measure_of(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("auc", "a metric must be one of ndcg@k, recall@k"),
        ("ndcg", "ndcg needs a number of ranks, such as ndcg@10"),
        ("mrr@5", "mrr is over the whole catalog"),
        ("ndcg@10(gain=linear)", "a metric must be one of"),
        ("ndcg@", "expected a whole number after @"),
    ],
)
def test_names_that_are_none(name, message):
    with pytest.raises(UsageError, match=message):
        measure_of(name)


def test_a_measure_prints_as_its_name():
    assert [str(measure_of(name)) for name in NAMES] == NAMES


FLAT = Scores(lambda users: torch.ones(len(users), 1), torch.arange(5.0).unsqueeze(1))


def test_who_has_nothing_to_find_is_counted_and_left_out():
    found = evaluate(FLAT, pairs_of([[4], [], [0]], 5), None, [measure_of("hit@1")])
    assert found.values["hit@1"][[0, 2]].tolist() == [1, 0]
    assert found.values["hit@1"][1].isnan()
    assert found.without_positives == 1
    mean = found.means()["hit@1"]
    assert (mean.value, mean.n) == (0.5, 2)
    assert mean.standard_error == pytest.approx(math.sqrt(0.5) / math.sqrt(2))
    assert found.notes() == ["1 user has no test positives and is left out."]


def test_who_has_few_negatives_is_counted_and_stays():
    wanted, seen = pairs_of([[4], [0]], 5), pairs_of([[0, 1, 2], []], 5)
    found = evaluate(FLAT, wanted, seen, [measure_of("pap@3")])
    assert found.few_negatives == 1
    assert found.values["pap@3"].tolist() == [1, 0]
    assert "1 user has fewer than 3 unseen items" in found.notes()[0]


def test_who_has_no_negatives_at_all_is_not_defined():
    found = evaluate(FLAT, pairs_of([[4]], 5), pairs_of([[0, 1, 2, 3]], 5), [measure_of("ndcg@2")])
    assert found.values["ndcg@2"].isnan().all()
    assert (found.without_negatives, found.few_negatives) == (1, 0)
    assert found.notes() == [
        "1 user has no unseen items except their positives and is left out.",
        "No user is left: there is nothing to measure.",
    ]


def test_popularity_is_the_number_of_users():
    train = pairs_of([[0, 2], [2], [2, 1]], 4)
    scores = popularity(train)
    assert scores.items.squeeze(1).tolist() == [1, 1, 3, 0]
    assert scores.users(torch.tensor([1, 2])).tolist() == [[1], [1]]
