from __future__ import annotations

import torch

from rankwise.data.images.listing import Listing
from rankwise.data.images.pool import Pool, pool_of

PIXELS = torch.zeros(4, 3, 2, 2, dtype=torch.uint8)


def test_a_combination_of_labels_is_a_kind_of_its_own():
    target = torch.tensor([[1, 0], [0, 0], [1, 1], [1, 0]])
    found = Pool("some", target, ("red", "wet"), pixels=PIXELS).images()
    assert found.target is target
    names = [found.images.classes[i] for i in found.images.labels.tolist()]
    assert names == ["red", "none", "red+wet", "red"]


def test_classes_are_in_natural_order_or_in_the_one_given():
    listing = Listing("some", ["c10", "c9", "c9", "c10"], ["train"] * 4, pixels=PIXELS)
    assert pool_of(listing).classes == ("c9", "c10")
    assert pool_of(listing).target.tolist() == [1, 0, 0, 1]
    assert pool_of(listing, ["c10", "c9"]).target.tolist() == [0, 1, 1, 0]


def test_parts_are_kept_only_where_test_classes_are_trained_on():
    parts = ["train", "train", "test", "test"]
    known = Listing("some", ["a", "b", "a", "b"], parts, pixels=PIXELS)
    assert pool_of(known).parts == parts
    unseen = Listing("some", ["a", "a", "b", "b"], parts, pixels=PIXELS)
    assert pool_of(unseen).parts is None
