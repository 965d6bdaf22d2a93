import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import metrics as m


@pytest.mark.parametrize(
    ("target", "k", "expected"),
    [
        ((0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0), 2, 2 / 4),
        ((1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1), 2, 3 / 4),
        ((1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1), 2, 1),
        ((1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0), 6, 27 / 30),
        ((1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0), 6, 28 / 30),
    ],
)
def test_table_1(ranked, target, k, expected):
    assert m.pap_at_k(*ranked(*target), k=k) == pytest.approx(expected)


@pytest.mark.parametrize("ties", ["standard", "against"])
@settings(max_examples=60)
@given(st.data())
def test_mean_over_the_top_of_both_classes(ties, data):
    k = data.draw(st.integers(1, 4))
    positives = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))
    negatives = data.draw(st.lists(st.integers(0, 4), min_size=k, max_size=7))
    scores = np.array([*positives, *negatives], dtype=float)
    half = 0 if ties == "against" else 0.5
    pairs = [
        (p > n) + half * (p == n)
        for p in sorted(positives)[::-1][:k]
        for n in sorted(negatives)[::-1][:k]
    ]
    value = m.pap_at_k(scores, np.arange(len(scores)) < len(positives), k=k, ties=ties)
    assert value == pytest.approx(np.mean(pairs), abs=1e-12)


def test_fewer_negatives_than_k(ranked):
    with pytest.warns(RuntimeWarning, match="some lists have fewer than k=5 negatives"):
        assert m.pap_at_k(*ranked(1, 0, 1), k=5) == 1 / 2


def test_the_papers_words_for_the_averages():
    scores = np.array([[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]])
    target = np.array([[1, 0, 0], [0, 1, 0]])
    assert m.pap_at_k(scores, target, k=1) == (1 + 0) / 2
    assert m.pap_at_k(scores, target, k=1, average="micro") == (1 + 0) / 2
    assert m.pap_at_k(scores, target, k=1, average="macro") == 0  # pooled: 6 is a negative
