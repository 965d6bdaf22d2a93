from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rankwise.retrieval.evaluation import LANES, at_least


@pytest.mark.parametrize("width", [LANES, 3 * LANES])
@pytest.mark.parametrize("thresholds", [0, 1, 5, 256, 257])  # few are compared, many searched
@pytest.mark.parametrize("threads", [0, 2])
def test_counts_are_those_of_every_comparison(width, thresholds, threads):
    rng = np.random.default_rng(thresholds)
    scores = rng.integers(-3, 4, size=(21, width)).astype(np.float32)
    scores[:, -7:] = -np.inf
    asked = rng.integers(-4, 5, size=(21, thresholds)).astype(np.float32)
    known = (scores[:, None, :] >= asked[:, :, None]).sum(-1)
    if threads:
        with ThreadPoolExecutor(threads) as pool:
            assert np.array_equal(at_least(scores, asked, pool), known)
    else:
        assert np.array_equal(at_least(scores, asked), known)


def test_no_byte_overflows_where_all_are_above():
    scores = np.ones((2, 2 * LANES), dtype=np.float32)
    assert at_least(scores, np.zeros((2, 1), np.float32)).tolist() == [[2 * LANES]] * 2
