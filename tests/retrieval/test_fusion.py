import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.retrieval import fuse

NAN = math.nan
score = st.one_of(st.just(NAN), st.integers(-3, 3).map(float))
systems = st.integers(1, 7).flatmap(
    lambda n: st.lists(st.lists(score, min_size=n, max_size=n), min_size=1, max_size=4)
)


def by_hand(scores, method, k=60.0, normalize=True):
    """The definitions, item by item; ties are the mean over the ranks that they take."""
    fused = [0.0] * len(scores[0])
    for own in scores:
        there = [s for s in own if not math.isnan(s)]
        for item, s in enumerate(own):
            if math.isnan(s):
                continue
            if method == "rrf":
                above, tied = sum(x > s for x in there), there.count(s)
                fused[item] += np.mean([1 / (k + above + r) for r in range(1, tied + 1)])
            elif not normalize:
                fused[item] += s
            else:
                low, high = min(there), max(there)
                fused[item] += (s - low) / (high - low) if high > low else 1.0
    if method == "combmnz":
        for item in range(len(fused)):
            fused[item] *= sum(not math.isnan(own[item]) for own in scores)
    return fused


@settings(max_examples=60, deadline=None)
@given(systems, st.sampled_from(["rrf", "combsum", "combmnz"]), st.booleans())
def test_equal_to_the_definitions(scores, method, normalize):
    found = fuse(
        [np.array(own) for own in scores],
        method=method,
        normalize="min_max" if normalize else "none",
    )
    expected = by_hand(scores, method, normalize=normalize)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("method", ["rrf", "combsum", "combmnz"])
def test_groups_rows_and_separate_calls_agree(method):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, (2, 3, 6)).astype(float)
    scores[rng.random(scores.shape) < 0.3] = NAN
    rows = fuse(list(scores), method=method)
    separate = np.stack([fuse([scores[0, q], scores[1, q]], method=method) for q in range(3)])
    np.testing.assert_allclose(rows, separate)
    shuffle = rng.permutation(18)
    groups = np.repeat([7, -2, 4], 6)[shuffle]
    flat = fuse([own.ravel()[shuffle] for own in scores], method=method, groups=groups)
    np.testing.assert_allclose(flat, separate.ravel()[shuffle])


def test_the_order_of_the_input_does_not_decide_ties():
    scores = [np.array([1.0, 1.0, 1.0, 0.0]), np.array([2.0, 2.0, NAN, 2.0])]
    found = fuse(scores)
    assert found[0] == found[1]
    backward = fuse([own[::-1].copy() for own in scores])
    np.testing.assert_array_equal(backward[::-1], found)


def test_the_kind_of_array_is_that_of_the_input():
    words, vectors = torch.tensor([3.0, 1.0]), torch.tensor([0.1, 0.2])
    found = fuse([words, vectors])
    assert isinstance(found, torch.Tensor)
    assert found.dtype == torch.float64
    assert isinstance(fuse([words.numpy(), vectors.numpy()]), np.ndarray)
    assert fuse([torch.full((3,), NAN)]).tolist() == [0, 0, 0]
    assert fuse([torch.zeros(0), torch.zeros(0)]).shape == (0,)


def test_infinite_scores_have_ranks_but_no_scale():
    scores = [np.array([np.inf, 1.0, -np.inf])]
    np.testing.assert_allclose(fuse(scores), [1 / 61, 1 / 62, 1 / 63])
    with pytest.raises(ValueError, match=r"must be finite to be normalized.*method='rrf'"):
        fuse(scores, method="combsum")


def test_what_is_refused():
    one = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="at least one system, got none"):
        fuse([])
    with pytest.raises(ValueError, match=r"one shape .* got \(2,\) and, in place 1, \(3,\)"):
        fuse([one, np.zeros(3)])
    with pytest.raises(ValueError, match="method must be one of"):
        fuse([one], method="borda")
    with pytest.raises(ValueError, match="normalize must be one of"):
        fuse([one], normalize="z")
    with pytest.raises(ValueError, match="k must be above 0, got 0"):
        fuse([one], k=0)
    with pytest.raises(ValueError, match="groups must be integer ids"):
        fuse([one], groups=np.array([0.5, 1]))
