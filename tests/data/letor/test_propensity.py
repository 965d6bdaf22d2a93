from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankwise.data import DataError
from rankwise.data.letor import (
    Clicks,
    Letor,
    estimate_propensities,
    read_propensities,
    with_clicks,
)


def log(rows, positions, shown, clicked):
    columns = [np.asarray(column) for column in (rows, positions)]
    return Clicks(Path("log"), *columns, np.asarray(shown, float), np.asarray(clicked, float))


def lists(groups):
    groups = np.asarray(groups)
    features = np.arange(len(groups), dtype=np.float32)[:, None]
    names = tuple(f"q{query}" for query in range(groups.max() + 1))
    return Letor(Path("lists"), features, np.zeros(len(groups)), groups, names)


def test_expected_clicks_give_the_propensities_back():
    theta, gamma = np.array([0.9, 0.6, 0.3]), np.array([0.8, 0.4, 0.1, 0.5])
    rows, places = (index.ravel() for index in np.indices((4, 3)))
    found = estimate_propensities(
        log(rows, places + 1, np.full(12, 1e4), 1e4 * theta[places] * gamma[rows])
    )
    np.testing.assert_allclose(found, theta / theta[0], rtol=1e-3)


def test_positions_that_no_document_connects_are_named():
    with pytest.raises(DataError, match="at position 3 and at one that leads to position 1"):
        estimate_propensities(log([0, 0, 1], [1, 2, 3], [9, 9, 9], [3, 2, 1]))


def test_a_gap_between_positions_is_named():
    with pytest.raises(DataError, match="no document was shown at position 2"):
        estimate_propensities(log([0, 0], [1, 3], [9, 9], [3, 1]))


def test_a_gap_before_a_far_position_is_named():
    with pytest.raises(DataError, match="no document was shown at position 3, but some were at"):
        estimate_propensities(log([0, 0, 0], [1, 2, 10**15], [9, 9, 9], [3, 1, 1]))


def test_clicks_are_divided_by_the_propensities():
    made = with_clicks(
        lists([0, 0, 0, 1, 1]),
        log([0, 0, 1, 3], [1, 2, 2, 1], [10, 10, 20, 5], [5, 2, 4, 0]),
        np.array([1.0, 0.5]),
    )
    # Document 2 was never shown, and query q1 was never clicked.
    assert made.target.tolist() == [(5 + 2 / 0.5) / 20, (4 / 0.5) / 20]
    assert (made.queries, made.documents) == (("q0",), ("q0-1", "q0-2"))
    assert made.features.ravel().tolist() == [0, 1]


def test_small_propensities_are_clipped():
    made = with_clicks(lists([0]), log([0], [1], [1], [1]), np.array([1e-6]))
    assert made.target.tolist() == [100]


@pytest.mark.parametrize(
    ("clicked", "propensities", "why"),
    [([0], [1.0], "nothing was clicked"), ([1], [], "propensities for 0 positions")],
)
def test_a_log_that_cannot_be_used_is_refused(clicked, propensities, why):
    with pytest.raises(DataError, match=why):
        with_clicks(lists([0]), log([0], [1], [1], clicked), np.array(propensities))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("position,propensity\n1,1\n3,.5\n", "position must be 1, 2, …, 2"),
        ("position,propensity\n1,1\n2,0\n", r"position 2 must be in \(0, 1\], got 0"),
        ("position,propensity\n1,1\n2,1.5\n", "position 2"),
        ("position,theta\n1,1\n", "no propensity column"),
    ],
)
def test_wrong_propensities_are_refused(tmp_path, text, why):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(DataError, match=why):
        read_propensities(tmp_path / "p.csv")
