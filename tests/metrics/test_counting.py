import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from rankwise import metrics as m
from rankwise.metrics import _counting as counting
from rankwise.metrics._counting import count_negatives, fast_auroc, fast_average_precision
from rankwise.metrics._setting import BIG

N = BIG + 1000
RNG = np.random.default_rng(0)
TARGET = (RNG.random(N) < 0.01).astype(np.int64)
NORMAL = RNG.standard_normal(N) + 1.5 * TARGET
SHAPES = {
    "normal": NORMAL,
    "float32": NORMAL.astype(np.float32),
    "tied": NORMAL.round(1).astype(np.float32),
    "probabilities": 1 / (1 + np.exp(9 - 3 * NORMAL)),
    "probabilities32": (1 / (1 + np.exp(9 - 3 * NORMAL))).astype(np.float32),
    "heavy tails": NORMAL**9 * 1e20,
    "whole range": (NORMAL * 1e38).clip(-3e38, 3e38).astype(np.float32),
    "tiny range": (1 + NORMAL * 1e-16),
    "denormal": NORMAL * 1e-310,
    "constant": np.zeros(N),
    "separated": NORMAL + 100 * TARGET,
    "signed zeros": np.where(NORMAL > 0, 0.0, -0.0),
}


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(counting, "CHUNK", 10_000)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("swap", [False, True])
def test_equal_to_scikit_learn(shape, swap):
    scores, target = SHAPES[shape], 1 - TARGET if swap else TARGET
    exact = scores.astype(np.float64)  # scikit-learn sums float32 scores, which may overflow
    ap, auc = average_precision_score(target, exact), roc_auc_score(target, exact)
    assert fast_average_precision(scores, target, "standard") == pytest.approx(ap, abs=1e-12)
    assert fast_auroc(scores, target, "standard") == pytest.approx(auc, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_equal_to_the_sorted_way(shape):
    scores = torch.tensor(SHAPES[shape])
    target = torch.tensor(TARGET)
    weight = torch.ones(N)  # a weight takes the way through the ranking
    for metric in (m.average_precision, m.auroc):
        for ties in ("standard", "against"):
            fast = float(metric(scores, target, ties=ties))
            slow = float(metric(scores, target, ties=ties, weight=weight))
            assert fast == pytest.approx(slow, abs=1e-12)


@settings(max_examples=100)
@given(st.data())
def test_counts_are_exact(data):
    extremes = st.sampled_from([np.inf, -np.inf, 0.0, -0.0, 1e38, -1e38, 1e-45, 1.0, -1.0])
    some = st.one_of(extremes, st.floats(-4, 4, width=32), st.floats(0, 2.0**-100, width=32))
    positives = np.array(data.draw(st.lists(some, min_size=1, max_size=4)), dtype=np.float32)
    negatives = np.array(data.draw(st.lists(some, min_size=80, max_size=90)), dtype=np.float32)
    scores = np.concatenate([positives, negatives])
    target = np.arange(len(scores)) < len(positives)
    (counts,) = count_negatives(scores, target)
    values = np.unique(positives)
    assert counts.positives.tolist() == [(positives == v).sum() for v in values]
    assert counts.negatives.tolist() == [(negatives == v).sum() for v in values]
    assert counts.negatives_above.tolist() == [(negatives > v).sum() for v in values]


@pytest.mark.parametrize("kind", [bool, np.uint8, np.float32, np.int64])
def test_target_types(kind):
    expected = roc_auc_score(TARGET, NORMAL)
    assert m.auroc(NORMAL, TARGET.astype(kind)) == pytest.approx(expected, abs=1e-12)


def test_long_lists_are_checked_too():
    broken = NORMAL.copy()
    broken[7] = np.nan
    with pytest.raises(ValueError, match="scores contains NaN"):
        m.auroc(broken, TARGET)
    with pytest.raises(ValueError, match="target must contain only 0 and 1"):
        m.average_precision(NORMAL, np.where(NORMAL > 3, 2, TARGET))
    with pytest.warns(RuntimeWarning, match="1 of 1 lists have only one class"):
        m.average_precision(NORMAL, np.zeros(N))


@pytest.mark.parametrize(
    ("dtype", "ends"), [(np.float32, (1e-45, 3e38)), (np.float64, (5e-324, 1.7e308))]
)
def test_positives_at_both_ends_of_the_floats(dtype, ends):
    """Cells by exponent would run over their integers here; found by the test above."""
    scores = np.tile(np.array([*ends, 1.0, np.inf, 0.0, -1.0], dtype=dtype), 20)
    target = np.zeros(len(scores), dtype=int)
    target[:3] = 1
    (counts,) = count_negatives(scores, target)
    values, negatives = np.unique(scores[:3]), scores[3:]
    assert counts.negatives.tolist() == [(negatives == v).sum() for v in values]
    assert counts.negatives_above.tolist() == [(negatives > v).sum() for v in values]
