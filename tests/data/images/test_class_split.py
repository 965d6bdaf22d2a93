from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

from rankwise.data import DataError
from rankwise.data.images._class_split import (
    ClassDraw,
    ClassListing,
    as_class_listing,
    divide_classes,
)
from rankwise.data.images._listing import Listing
from rankwise.data.images.image_file import BrokenImage

PIXELS = torch.zeros(4, 3, 2, 2, dtype=torch.uint8)


def test_a_combination_of_labels_is_a_kind_of_its_own():
    target = torch.tensor([[1, 0], [0, 0], [1, 1], [1, 0]])
    found = ClassListing("some", target, ("red", "wet"), pixels=PIXELS).images()
    assert found.target is target
    names = [found.images.classes[i] for i in found.images.labels.tolist()]
    assert names == ["red", "none", "red+wet", "red"]


def test_classes_are_in_natural_order_or_in_the_one_given():
    listing = Listing("some", ["c10", "c9", "c9", "c10"], ["train"] * 4, pixels=PIXELS)
    assert as_class_listing(listing).classes == ("c9", "c10")
    assert as_class_listing(listing).target.tolist() == [1, 0, 0, 1]
    assert as_class_listing(listing, ["c10", "c9"]).target.tolist() == [0, 1, 1, 0]


def test_parts_are_kept_only_where_test_classes_are_trained_on():
    parts = ["train", "train", "test", "test"]
    known = Listing("some", ["a", "b", "a", "b"], parts, pixels=PIXELS)
    assert as_class_listing(known).parts == parts
    unseen = Listing("some", ["a", "a", "b", "b"], parts, pixels=PIXELS)
    assert as_class_listing(unseen).parts is None


def pool(counts=(100, 100, 100), **changed):
    target = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    number = torch.arange(len(target))
    pixels = torch.stack([number // 256, number % 256, target], dim=1).to(torch.uint8)
    given = {"target": target, "classes": tuple("abcdef"[: len(counts)])}
    given["pixels"] = pixels[:, :, None, None].expand(-1, -1, 2, 2)
    return ClassListing("some", **{**given, **changed})


def parts_of(listed, *, skip_broken=False, **options):
    return divide_classes(listed, ClassDraw(**options), skip_broken=skip_broken)


def rows(part):
    """Which images of the pool a part has: their number is in the pixels."""
    found = [part.images.load(i)[:2, 0, 0].tolist() for i in range(len(part))]
    return [256 * high + low for high, low in found]


def test_every_class_in_the_same_shares_and_no_image_twice():
    found = parts_of(pool(), seed=3)
    parts = found.train, found.validation, found.test
    assert [part.counts.tolist() for part in parts] == [[80] * 3, [10] * 3, [10] * 3]
    assert sorted(row for part in parts for row in rows(part)) == list(range(300))
    again = parts_of(pool(), seed=3)
    assert rows(again.test) == rows(found.test)
    assert rows(parts_of(pool(), seed=4).test) != rows(found.test)


def test_a_small_class_keeps_an_image_to_train_on():
    found = parts_of(pool((1, 2, 30)), validation_share=0.5, test_share=0.5)
    assert found.train.counts.tolist() == [1, 1, 1]


@pytest.mark.parametrize(("where", "test"), [("all", [10, 3, 1]), ("train", [10, 10, 10])])
def test_a_tail_in_all_parts_or_to_train_on(where, test):
    found = parts_of(pool(), imbalance=10, tail_in=where)
    train = found.train.counts.tolist()
    assert train == sorted(train, reverse=True)
    assert train[0] == 80
    assert train[2] <= 9
    assert found.test.counts.tolist() == test


def test_positive_classes_against_the_others_at_a_share():
    found = parts_of(pool(), positive=("b",), positive_share=0.1)
    assert found.train.binary
    negatives, positives = found.train.counts.tolist()
    assert negatives == 160
    assert positives / (negatives + positives) == pytest.approx(0.1, abs=0.01)
    assert found.test.counts.tolist() == [20, 10]  # as it was


def test_parts_of_the_data_set_are_kept_and_groups_stay_together():
    parts = ["train"] * 240 + ["test"] * 60
    given = parts_of(pool(parts=parts))
    assert rows(given.test) == list(range(240, 300))
    assert len(given.validation) == pytest.approx(240 / 9, abs=2)
    groups = [f"patient {row // 4}" for row in range(300)]
    by_patient = parts_of(pool(parts=parts, groups=groups))
    held = Counter(row // 4 for row in rows(by_patient.validation))
    assert set(held.values()) == {4}
    assert not held.keys() & {row // 4 for row in rows(by_patient.train)}
    none = parts_of(pool(parts=parts), validation_share=0.0)
    assert len(none.validation) == 0


def test_broken_images_end_it_or_are_left_out():
    broken = {7: BrokenImage(Path("x.png"), "is empty")}
    with pytest.raises(DataError, match=r"some: 1 .*x\.png.*is empty"):
        parts_of(pool(broken=broken))
    found = parts_of(pool(broken=broken), skip_broken=True)
    assert len(found.dropped) == 1
    there = [row for part in (found.train, found.validation, found.test) for row in rows(part)]
    assert sorted(there) == [row for row in range(300) if row != 7]


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        ({}, {"positive_share": 0.1}, "positive_share needs a positive class"),
        ({}, {"positive": ("z",)}, "some: "),
        ({}, {"test_share": 0.0}, "some test: there are no images"),
        (
            {"target": torch.ones(300, 3, dtype=torch.long)},
            {"imbalance": 10.0},
            "several labels by image",
        ),
    ],
)
def test_what_cannot_be_is_refused(changed, options, message):
    with pytest.raises(DataError, match=message):
        parts_of(pool(**changed), **options)
