"""What the page of a detector is made of."""

from __future__ import annotations

import pytest

from rankwise.vision.gallery import spaced


@pytest.mark.parametrize(
    ("there", "wanted", "rows"),
    [(10, 2, [0, 5]), (9, 3, [0, 3, 6]), (4, 9, [0, 1, 2, 3]), (1, 3, [0]), (0, 3, []), (3, 0, [])],
)
def test_rows_are_evenly_spaced_and_none_is_taken_twice(there, wanted, rows):
    assert spaced(there, wanted) == rows
