import importlib.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.metrics import _compiled as compiled
from rankwise.metrics import _counting as counting

FORMS = ["numpy", "numba"]
SCORES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 1e-45, 0.5, 1.0, 3e38, np.inf])


@pytest.fixture(params=FORMS)
def form(request, monkeypatch):
    if request.param == "numba" and importlib.util.find_spec("numba") is None:
        pytest.skip("numba is not installed")
    monkeypatch.setattr(compiled, "LONG", 0 if request.param == "numba" else 10**9)
    monkeypatch.setattr(counting, "SEARCHED", 2)


@pytest.fixture(scope="module", autouse=True)
def compile_once():
    if importlib.util.find_spec("numba") is not None:
        importlib.import_module("rankwise.metrics._loops")


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    st.lists(SCORES, min_size=1, max_size=12),
    st.lists(SCORES, min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_sorted_counts_are_exact(dtype, positives, negatives, random):
    order = list(range(len(positives) + len(negatives)))
    random.shuffle(order)
    scores = np.array(positives + negatives, dtype=dtype)[order]
    target = (np.arange(len(order)) < len(positives)).astype(np.int64)[order]
    p, n = compiled.split_classes(scores, target, len(positives))
    p.sort()
    n.sort()
    np.testing.assert_array_equal(p, np.sort(np.array(positives, dtype=dtype)))
    np.testing.assert_array_equal(n, np.sort(np.array(negatives, dtype=dtype)))
    parts = list(counting.count_sorted(p, n))
    found = {
        name: np.concatenate([getattr(part, name) for part in parts]).tolist()
        for name in ("positives", "negatives", "positives_above", "negatives_above")
    }
    values = np.unique(p)
    assert found == {
        "positives": [(p == v).sum() for v in values],
        "negatives": [(n == v).sum() for v in values],
        "positives_above": [(p > v).sum() for v in values],
        "negatives_above": [(n > v).sum() for v in values],
    }
