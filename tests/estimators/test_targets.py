from __future__ import annotations

import numpy as np
import pytest

from rankwise.estimators.targets import read_groups, read_target, read_weight


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([-1, 1, 1], [-1, 1]),
        ([False, True, True], [False, True]),
        (["no", "yes", "yes"], ["no", "yes"]),
        (np.array(["no", "yes", "yes"], dtype=object), ["no", "yes"]),
        ([1.0, 2.0, 2.0], [1, 2]),
    ],
)
def test_the_second_of_two_classes_is_positive(y: object, classes: list[object]) -> None:
    found, target = read_target(y, graded=False)
    assert found.tolist() == classes
    assert target.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2], "Only binary classification is supported.*3 values"),
        ([0.5, 1.5, 2.5], "Unknown label type"),
        ([1, 1, 1], "only one class"),
        (np.array(["a", None, "b"], dtype=object), "missing"),
    ],
)
def test_targets_that_are_refused(y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_target(y, graded=False)


def test_relevances() -> None:
    classes, target = read_target([0, 3, 1], graded=True)
    assert classes.tolist() == [0, 1]
    assert target.tolist() == [0, 3, 1]
    with pytest.raises(ValueError, match="relevances >= 0"):
        read_target([0, 3, -1], graded=True)


def test_targets_of_known_classes() -> None:
    classes = np.array(["no", "yes"])
    _, target = read_target(["yes", "yes"], graded=False, classes=classes, rows=2)
    assert target.tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"only the classes.*perhaps"):
        read_target(["yes", "perhaps"], graded=False, classes=classes)
    with pytest.raises(ValueError, match="2 values for 3 rows"):
        read_target(["yes", "no"], graded=False, classes=classes, rows=3)


def test_groups_are_numbered_in_the_order_of_their_ids() -> None:
    assert read_groups(None, 3) is None
    found = read_groups(["b", "a", "b"], 3)
    assert np.array_equal(found, [1, 0, 1])
    with pytest.raises(ValueError, match="one id per row of X, 3, got shape"):
        read_groups([1, 2], 3)
    for missing in ([1.0, np.nan, 2.0], np.array(["a", None, "b"], dtype=object)):
        with pytest.raises(ValueError, match="missing"):
            read_groups(missing, 3)


def test_weights() -> None:
    rows = np.zeros((2, 1))
    assert read_weight(None, rows) is None
    found = read_weight([1, 2], rows)
    assert np.array_equal(found, [1, 2])
    for bad, message in (([0, 0], "zero"), ([1, -1], "[Nn]egative"), ([1], "sample_weight")):
        with pytest.raises(ValueError, match=message):
            read_weight(bad, rows)
