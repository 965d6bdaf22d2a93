from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankwise.data import DataError
from rankwise.data.interactions import Interactions
from rankwise.data.interactions.interactions import codes_of

SMALL = Interactions(
    Path("small"),
    np.array([0, 0, 1]),
    np.array([0, 1, 0]),
    np.array([3.0, 4.0, 5.0]),
    None,
    ("u", "v"),
    ("a", "b"),
)


def test_positives_are_from_the_threshold_on():
    assert SMALL.positive(4).tolist() == [False, True, True]
    assert SMALL.positive(None).all()


def test_the_fingerprint_changes_with_anything():
    others = [
        replace(SMALL, value=np.array([3.0, 4.0, 4.0])),
        replace(SMALL, users=("u", "w")),
        replace(SMALL, time=np.zeros(3)),
        replace(SMALL, item=np.array([0, 1, 1])),
    ]
    assert len({SMALL.fingerprint(), *(other.fingerprint() for other in others)}) == 5
    assert replace(SMALL, path=Path("elsewhere")).fingerprint() == SMALL.fingerprint()


def test_unknown_ids_are_one_line():
    assert codes_of(["b", "a", "b"], SMALL.items, "item", "new.csv").tolist() == [1, 0, 1]
    with pytest.raises(DataError) as error:
        codes_of(["user1", "a", "x", "x"], ("user11", "a"), "user", "new.csv")
    assert str(error.value) == (
        "new.csv: 2 unknown user ids: 'user1', 'x'; the model knows the 2 users it was trained on; "
        "did you mean 'user11'?"
    )
