import ir_measures
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import Bpref, infAP

from rankwise import metrics as m


@pytest.fixture(scope="module")
def lists():
    """Scores without ties; 1 and 0 are labels, −1 is in the pool, −2 outside of it."""
    rng = np.random.default_rng(3)
    scores = rng.permuted(np.tile(np.arange(40.0), (12, 1)), axis=1)
    target = rng.choice([1, 0, -1, -2], (12, 40), p=[0.2, 0.3, 0.3, 0.2])
    target[:, 0] = 1
    return scores, target


@pytest.mark.parametrize(
    ("measure", "metric"), [(Bpref, m.bpref), (infAP, m.inferred_average_precision)]
)
@pytest.mark.parametrize("known", ["all", "few"])
def test_equal_to_trec_eval(lists, measure, metric, known):
    scores, target = lists
    if known == "few":  # fewer labeled not relevant than relevant
        target = np.where((target == 0) & (np.arange(40) > 8), -1, target)
    # What is outside of the pool is not in the qrels.
    qrels = {
        str(q): {f"d{d}": int(y) for d, y in enumerate(row) if y > -2}
        for q, row in enumerate(target)
    }
    run = {str(q): {f"d{d}": float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}
    theirs = {int(x.query_id): x.value for x in ir_measures.iter_calc([measure], qrels, run)}
    found = metric(scores, target, average="none")
    np.testing.assert_allclose(found, [theirs[q] for q in range(12)], rtol=1e-12)


def test_bpref_does_not_see_items_without_a_label(lists):
    scores, target = lists
    known = target >= 0
    expected = m.bpref(scores, np.where(known, target, 0), mask=known)
    assert m.bpref(scores, target) == pytest.approx(expected)


def test_bpref_without_anything_labeled_not_relevant_is_one():
    assert m.bpref(np.array([3.0, 2, 1]), np.array([-1, 1, -2])) == 1


def inferred(ranked):
    """infAP of a strict order, item by item."""
    value, relevant, other, pooled, e = 0.0, 0, 0, 0, 1e-5
    for above, y in enumerate(ranked):
        if y == 1:
            share = (relevant + e) / (relevant + other + 2 * e)
            value += (1 + pooled * share) / (above + 1)
        relevant, other, pooled = relevant + (y == 1), other + (y == 0), pooled + (y > -2)
    return value / ranked.count(1)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from([1, 0, -1, -2]), min_size=2, max_size=12).filter(
        lambda y: 1 in y and set(y) != {1}
    )
)
def test_infap_item_by_item(target):
    found = m.inferred_average_precision(-np.arange(float(len(target))), np.array(target))
    assert found == pytest.approx(inferred(target), abs=1e-12)


def test_infap_with_all_labels_is_average_precision_with_its_ties():
    rng = np.random.default_rng(0)
    scores, target = rng.integers(0, 6, (5, 50)).astype(float), rng.integers(0, 2, (5, 50))
    exact = m.average_precision(scores, target, average="none")
    found = m.inferred_average_precision(scores, target, average="none")
    np.testing.assert_allclose(found, exact, atol=1e-4)  # ε = 10⁻⁵, 50 items


def test_infap_estimates_average_precision_from_a_part_of_the_labels():
    rng = np.random.default_rng(1)
    y = (rng.random(400) < 0.2).astype(int)
    scores = rng.normal(size=400) + 1.5 * y
    exact = float(m.average_precision(scores, y))
    sampled = np.where(rng.random((500, 400)) < 0.3, y, -1)
    found = m.inferred_average_precision(np.tile(scores, (500, 1)), sampled, average="none")
    assert np.mean(found) == pytest.approx(exact, abs=0.02)
    # As if what has no label were not relevant: far off.
    assumed = m.average_precision(np.tile(scores, (500, 1)), np.maximum(sampled, 0))
    assert abs(assumed - exact) > 0.2


@pytest.mark.parametrize("metric", [m.bpref, m.inferred_average_precision])
def test_targets_are_labels_or_say_that_there_is_none(metric):
    scores = torch.tensor([3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match=r"target must be 1 or 0, or below 0 .* got 2"):
        metric(scores, torch.tensor([1, 0, 2]))
    with pytest.raises(ValueError, match=r"target must be 1 or 0, or below 0 .* got -3"):
        metric(scores, torch.tensor([1, 0, -3]))
    with pytest.raises(ValueError, match="target"):
        m.average_precision(scores, torch.tensor([1, 0, -1]))  # all others want two classes


@pytest.mark.parametrize("metric", [m.bpref, m.inferred_average_precision])
def test_intervals_and_accumulation_take_items_without_a_label(metric, lists):
    scores, target = lists
    accumulated = m.Metric(metric)
    for rows in (slice(0, 5), slice(5, 12)):
        accumulated.update(scores[rows], target[rows])
    assert float(accumulated.compute()) == pytest.approx(float(metric(scores, target)))
    found = m.bootstrap_interval(metric, scores[0], target[0], resamples=200)
    assert found.low <= found.value <= found.high
    with pytest.raises(ValueError, match="which needs the items"):
        m.Metric(metric, memory="bounded")
