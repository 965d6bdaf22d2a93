"""A set of images: files or pixels, and parts of it."""

from pathlib import Path

import pytest
import torch
from tests.data.images.layouts import write_picture

from rankwise.data.images import BrokenImage, ImageSet, RetrievalSplits


@pytest.fixture
def held():
    """Six gray images of 2×3, of classes a b c by 3, 2, 1."""
    pixels = torch.arange(6, dtype=torch.uint8)[:, None, None, None].expand(6, 1, 2, 3)
    return ImageSet("six", torch.tensor([0, 1, 0, 2, 1, 0]), ("a", "b", "c"), pixels=pixels)


def test_pixels_are_given_in_three_channels_that_can_be_written_on(held):
    picture = held.load(4)
    assert torch.equal(picture, torch.full((3, 2, 3), 4, dtype=torch.uint8))
    picture.zero_()
    assert held.load(4).unique().tolist() == [4]


def test_files_are_read_when_asked_for(tmp_path):
    write_picture(tmp_path / "a.png", 7, size=(5, 3))
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
        write_picture(tmp_path / f"{i}.png", size=(4 + i % 2, 9 - i % 2))
    paths = tuple(tmp_path / f"{i}.png" for i in range(150))
    images = ImageSet("many", torch.zeros(150, dtype=torch.long), ("a",), paths)
    assert images.subset(range(4)).describe().endswith("4 a class (mean 4.0), 4×8 to 5×9 pixels")
    assert "(75 files looked at)" in images.describe()
    assert held.subset([]).describe() == "six: no images"
    paths[0].write_bytes(paths[0].read_bytes()[:12])  # begins like a picture
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
        ({"labels": torch.tensor([1])}, "class ids 0 to 0, got 1 to 1"),
        ({"labels": torch.tensor([-1])}, "class ids 0 to 0, got -1 to -1"),
        ({"pixels": torch.zeros(1, 3, 2, 2)}, "pixels must be a uint8 tensor"),
        ({"pixels": torch.zeros(1, 2, 2, 2).byte()}, r"got torch.uint8 of shape \(1, 2, 2, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    good = {"labels": torch.tensor([0]), "pixels": torch.zeros(1, 3, 2, 2).byte(), "paths": None}
    with pytest.raises(ValueError, match=message):
        ImageSet(name="x", classes=("a",), **(good | change))
