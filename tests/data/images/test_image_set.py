"""A set of images: files or pixels, and parts of it."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
import torch
from tests.data.images.layouts import write_image
from tests.tasks.retrieval.cases import images

from rankwise.data.images import BrokenImage, ImageSet, RetrievalSplits
from rankwise.data.images._cifar_families import CIFAR_FAMILIES
from rankwise.data.images.image_set import ClassSplits, LabeledImages, fingerprint


@pytest.fixture
def held():
    """Six gray images of 2×3, of classes a b c by 3, 2, 1."""
    pixels = torch.arange(6, dtype=torch.uint8)[:, None, None, None].expand(6, 1, 2, 3)
    return ImageSet("six", torch.tensor([0, 1, 0, 2, 1, 0]), ("a", "b", "c"), pixels=pixels)


def test_pixels_are_given_in_three_channels_that_can_be_written_on(held):
    image = held.load(4)
    assert torch.equal(image, torch.full((3, 2, 3), 4, dtype=torch.uint8))
    image.zero_()
    assert held.load(4).unique().tolist() == [4]


def test_files_are_read_when_asked_for(tmp_path):
    write_image(tmp_path / "a.png", 7, size=(5, 3))
    paths = (tmp_path / "a.png", tmp_path / "gone.png")
    images = ImageSet("two", torch.tensor([0, 0]), ("a",), paths)
    assert images.load(0).shape == (3, 3, 5)
    assert images.load(0)[:, 0, 0].tolist() == [7, 14, 100]
    with pytest.raises(BrokenImage, match=r"gone\.png: there is no such file"):
        images.load(1)


def test_a_subset_keeps_the_ids_or_renumbers_them(held):
    kept = held.subset([3, 1, 0])
    assert (kept.labels.tolist(), kept.classes) == ([2, 1, 0], ("a", "b", "c"))
    assert [int(kept.load(i)[0, 0, 0]) for i in range(3)] == [3, 1, 0]
    again = held.subset(torch.tensor([3, 1]), renumber=True)
    assert (again.labels.tolist(), again.classes) == ([1, 0], ("b", "c"))
    assert len(held.subset([])) == 0
    assert held.subset([], renumber=True).classes == ()


def test_a_subset_of_files(tmp_path):
    images = ImageSet("f", torch.tensor([0, 1]), ("a", "b"), (Path("x"), Path("y")))
    assert images.subset([1]).paths == (Path("y"),)


def test_a_description(held, tmp_path):
    expected = "six: 6 images of 3 classes, 1 to 3 a class (mean 2.0), 3×2 pixels"
    assert held.describe() == expected
    for i in range(150):
        write_image(tmp_path / f"{i}.png", size=(4 + i % 2, 9 - i % 2))
    paths = tuple(tmp_path / f"{i}.png" for i in range(150))
    images = ImageSet("many", torch.zeros(150, dtype=torch.long), ("a",), paths)
    assert images.subset(range(4)).describe().endswith("4 a class (mean 4.0), 4×8 to 5×9 pixels")
    assert "(75 files looked at)" in images.describe()
    assert held.subset([]).describe() == "six: no images"
    paths[0].write_bytes(paths[0].read_bytes()[:12])  # begins like a image
    assert images.subset(range(2)).describe().endswith("2 a class (mean 2.0), 5×8 pixels")
    assert images.subset([0]).describe().endswith("of unknown size")


def test_counts(held):
    assert held.counts.tolist() == [3, 2, 1]
    assert held.subset([3]).counts.tolist() == [0, 0, 1]


def test_splits_describe_themselves(held):
    first, second = held.subset([0, 2], renumber=True), held.subset([1, 4], renumber=True)
    dropped = (BrokenImage("x", "is empty"),)
    splits = RetrievalSplits(first, held.subset([]), second, {"small": (second, second)}, dropped)
    lines = splits.describe().splitlines()
    assert len(lines) == 5
    assert lines[3].startswith("gallery small: six: 2 images")
    assert lines[4] == "left out: 1 files that cannot be read"
    asked = RetrievalSplits(first, first, held, {"g": (first, second)}).describe().splitlines()
    assert asked[3].endswith(", 2 queries")
    assert asked[4] == "1 of 3 test classes are trained on"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"paths": (Path("x"),)}, "exactly one"),
        ({"pixels": None}, "exactly one"),
        ({"labels": torch.tensor([0.0])}, "labels must be a long tensor"),
        ({"labels": torch.tensor([[0]])}, r"got torch.int64 of shape \(1, 1\)"),
        ({"labels": torch.tensor([0, 0])}, "a label for each of 1 images, got 2"),
        ({"labels": torch.tensor([1])}, "labels must be from 0 to 0, got 1 to 1"),
        ({"labels": torch.tensor([-1])}, "labels must be from 0 to 0, got -1 to -1"),
        ({"pixels": torch.zeros(1, 3, 2, 2)}, "pixels must be a uint8 tensor"),
        ({"pixels": torch.zeros(1, 2, 2, 2).byte()}, r"got torch.uint8 of shape \(1, 2, 2, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    good = {"labels": torch.tensor([0]), "pixels": torch.zeros(1, 3, 2, 2).byte(), "paths": None}
    with pytest.raises(ValueError, match=message):
        ImageSet(name="x", classes=("a",), **(good | change))


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


def test_the_fingerprint_is_that_of_the_images_and_their_order(tmp_path):
    first = images("train", 3)
    assert fingerprint(first) == fingerprint(images("train", 3))
    assert fingerprint(first) != fingerprint(images("train", 3, seed=1))
    assert fingerprint(first) != fingerprint(first.subset(range(11, -1, -1)))

    def files(folder: str, name: str, content: bytes = b"abcd") -> ImageSet:
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return ImageSet("files", torch.zeros(1, dtype=torch.long), ("a",), paths=(path,))

    known = fingerprint(files("here", "1.jpg"))
    assert known == fingerprint(files("there", "1.jpg"))
    assert known != fingerprint(files("here", "2.jpg"))
    assert known != fingerprint(files("here", "1.jpg", b"abce"))
    assert known != fingerprint(files("here", "1.jpg", b"abcde"))


def test_the_fingerprint_is_of_sizes_and_a_sample_or_of_all_contents_but_not_of_times(tmp_path):
    paths = tuple(tmp_path / f"{n}.jpg" for n in range(600))
    for n, path in enumerate(paths):
        path.write_bytes(b"%04d" % n)
    held = ImageSet("files", torch.zeros(600, dtype=torch.long), ("a",), paths=paths)
    sample, full = fingerprint(held), fingerprint(held, full=True)
    for path in paths:
        os.utime(path, (1, 1))
    assert fingerprint(held) == sample
    paths[1].write_bytes(b"xxxx")  # between two of the sample
    assert fingerprint(held) == sample
    assert fingerprint(held, full=True) != full
    paths[1].write_bytes(b"xxxxx")
    assert fingerprint(held) != sample
    paths[1].write_bytes(b"0001")
    paths[-1].write_bytes(b"yyyy")
    assert fingerprint(held) != sample


def test_super_classes_go_with_the_classes():
    pixels, labels = torch.zeros(4, 1, 8, 8, dtype=torch.uint8), torch.tensor([0, 1, 2, 2])
    families = ("pet", "pet", "car")
    images = ImageSet("all", labels, ("cat", "dog", "bus"), pixels=pixels, families=families)
    assert images.tree.tolist() == [[0, 0], [0, 1], [1, 2], [1, 2]]
    some = images.subset([1, 2], renumber=True)
    assert some.families == ("pet", "car")
    assert some.tree.tolist() == [[0, 0], [1, 1]]
    assert ImageSet("all", labels, ("cat", "dog", "bus"), pixels=pixels).tree is None
    with pytest.raises(ValueError, match="families must be one per class, 3, got 1"):
        ImageSet("all", labels, ("cat", "dog", "bus"), pixels=pixels, families=("pet",))


def test_the_super_classes_of_cifar_100_have_five_classes_each():
    assert len(CIFAR_FAMILIES) == 100
    assert set(Counter(CIFAR_FAMILIES.values()).values()) == {5}
    assert CIFAR_FAMILIES["maple_tree"] == CIFAR_FAMILIES["oak_tree"] == "trees"
