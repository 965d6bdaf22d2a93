from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rankwise.data.images import ImageSet
from rankwise.data.images.image_file import BrokenImage
from rankwise.data.images.labeled import ClassSplits, LabeledImages

LABELS = torch.tensor([0, 1, 1, 2])
PIXELS = torch.arange(4, dtype=torch.uint8).reshape(4, 1, 1, 1).expand(4, 3, 2, 2)
IMAGES = ImageSet("four", LABELS, ("a", "b", "c"), pixels=PIXELS)
SEVERAL = torch.tensor([[0, 0, 0], [1, 0, 1], [1, 1, 0], [0, 0, 1]])


def test_one_class_by_image():
    found = LabeledImages(IMAGES, LABELS, ("a", "b", "c"))
    assert not found.multi_label
    assert not found.binary
    assert found.counts.tolist() == [1, 2, 1]
    assert found.hot[3].tolist() == [0, 0, 1]
    assert found.describe() == "four: 4 images of 3 classes: a 1, b 2, c 1"


def test_several_labels_by_image():
    found = LabeledImages(IMAGES, SEVERAL, ("a", "b", "c"))
    assert found.multi_label
    assert found.counts.tolist() == [2, 1, 2]
    assert torch.equal(found.hot, SEVERAL)
    assert "of 3 labels" in found.describe()


def test_two_classes_are_binary():
    assert LabeledImages(IMAGES, LABELS.clamp_max(1), ("no", "yes")).binary
    assert not LabeledImages(IMAGES, SEVERAL[:, :2], ("no", "yes")).binary


def test_a_subset_keeps_order_and_classes():
    some = LabeledImages(IMAGES, LABELS, ("a", "b", "c")).subset([3, 0], "two")
    assert (some.name, len(some), some.classes) == ("two", 2, ("a", "b", "c"))
    assert some.target.tolist() == [2, 0]
    assert some.images.load(0).unique().tolist() == [3]


def test_of_many_classes_the_first_and_the_last_are_described():
    names = tuple("abcdefgh")
    said = LabeledImages(IMAGES, LABELS, names).describe()
    assert said.endswith("f 0, … h 0")


def test_splits_say_what_was_left_out():
    part = LabeledImages(IMAGES, LABELS, ("a", "b", "c"))
    broken = (BrokenImage(Path("x.png"), "is empty"),)
    assert len(ClassSplits(part, part, part).describe().splitlines()) == 3
    lines = ClassSplits(part, part, part, broken).describe().splitlines()
    assert lines[3] == "left out: 1 files that cannot be read"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (LABELS.float(), "target must be long"),
        (LABELS[:3], r"of shape \(4,\) or \(4, 3\), got .* \(3,\)"),
        (LABELS + 1, "target must be from 0 to 2, got 1 to 3"),
        (SEVERAL * 2, "target must be from 0 to 1, got 0 to 2"),
    ],
)
def test_other_targets_are_refused(target, message):
    with pytest.raises(ValueError, match=message):
        LabeledImages(IMAGES, target, ("a", "b", "c"))
