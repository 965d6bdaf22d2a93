from __future__ import annotations

from rankwise.data.images.listing import by_halves, in_order


def test_the_first_half_of_the_classes_trains():
    order = ["a", "b", "c", "d", "e"]
    assert by_halves(["e", "a", "b", "c"], order) == ["test", "train", "train", "test"]


def test_numbers_in_names_are_ordered_by_value():
    assert in_order(["c10", "c9", "c9", "b", "2", "10"]) == ["2", "10", "b", "c9", "c10"]
    assert in_order(["a01", "a1"]) == ["a01", "a1"]  # equal by value: by their letters
