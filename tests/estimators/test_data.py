from __future__ import annotations

import numpy as np

from rankwise.estimators.data import Part, Training


def _part() -> Part:
    return Part(
        np.arange(4.0)[:, None],
        np.array([0.0, 1, 0, 1]),
        np.array([1.0, 2, 3, 4]),
        np.array([1, 0, 1, 0]),
    )


def test_some_of_the_rows() -> None:
    some = _part().rows(np.array([True, False, True, False]))
    assert some.X[:, 0].tolist() == [0, 2]
    assert np.array_equal(some.weight, [1, 3])
    assert np.array_equal(some.groups, [0, 0])
    assert len(some) == 2


def test_sizes_of_lists() -> None:
    assert _part().list_sizes.tolist() == [2, 2]
    plain = Part(np.zeros((3, 1)), np.zeros(3))
    assert plain.list_sizes.tolist() == [3]


def test_evaluated_on_the_rows_held_out() -> None:
    part = _part()
    data = Training(part, part, 0.5, 0, lambda scores, rows: float(scores.sum() + len(rows)))
    assert data.evaluate(np.ones(4)) == 8
    assert not data.splits
