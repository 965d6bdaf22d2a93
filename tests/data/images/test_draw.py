"""Test and validation images of a folder: by class where there are enough, said, and by seed."""

import pytest
from tests.data.images import layouts
from tests.data.images.layouts import write_image

from rankwise.data import DataError
from rankwise.data.images import open_images


def parts_of(splits):
    return splits.train, splits.validation, splits.test


def counts(splits):
    return [(len(part.classes), len(part)) for part in parts_of(splits)]


def test_test_classes_are_drawn_by_seed_and_not_by_name(tmp_path):
    root = layouts.folders(tmp_path, classes=20)
    drawn = {open_images("folder", root, seed=seed).test.classes for seed in range(4)}
    assert len(drawn) == 4
    halves = open_images("folder", root, test_share=0.5)
    assert counts(halves)[2] == (10, 20)
    assert halves.test.classes != tuple(f"c{i}" for i in range(10, 20))
    assert halves.test.classes == open_images("folder", root, test_share=0.5).test.classes


def test_no_class_of_a_test_image_is_trained_on_and_the_division_is_said(tmp_path):
    splits = open_images("folder", layouts.folders(tmp_path, classes=20, images=3), seed=7)
    assert counts(splits) == [(14, 42), (2, 6), (4, 12)]
    assert len({name for part in parts_of(splits) for name in part.classes}) == 20
    assert splits.remarks == (
        "division: of 20 classes 4 test, 2 validation and 14 train, drawn by class at random "
        "(data.seed 7)",
    )


def test_a_share_too_large_leaves_two_classes_for_every_part(tmp_path):
    root = layouts.folders(tmp_path, classes=8)
    splits = open_images("folder", root, test_share=0.9, validation_share=0.9)
    assert [classes for classes, _ in counts(splits)] == [2, 2, 4]


def test_few_classes_are_divided_by_images_and_that_is_said(tmp_path):
    splits = open_images("folder", layouts.folders(tmp_path, classes=3, images=10))
    assert counts(splits) == [(3, 18), (3, 6), (3, 6)]
    seen = [path for part in parts_of(splits) for path in part.paths]
    assert len(set(seen)) == len(seen) == 30
    assert "3 classes with two images or more are too few to keep" in splits.remarks[0]
    assert "3 of 3 test classes are trained on" in splits.describe()


def test_three_classes_of_four_images_can_be_divided(tmp_path):
    splits = open_images("folder", layouts.folders(tmp_path, classes=3, images=4))
    assert counts(splits) == [(3, 6), (0, 0), (3, 6)]
    assert any(line.startswith("no validation: ") for line in splits.remarks)


def test_a_split_by_images_on_request(tmp_path):
    root = layouts.folders(tmp_path, classes=12, images=10)
    splits = open_images("folder", root, split="images", test_share=0.3)
    assert counts(splits) == [(12, 60), (12, 24), (12, 36)]
    with pytest.raises(
        DataError, match=r"split by classes needs 6 classes .*; got 3; set split to"
    ):
        open_images("folder", layouts.folders(tmp_path / "few" / "x", classes=3), split="classes")


def test_a_class_with_one_image_is_trained_on_only_and_named(tmp_path):
    root = layouts.folders(tmp_path, classes=8)
    for name in ("solo", "lone"):
        write_image(root / name / "a.png")
    for seed in range(5):
        splits = open_images("folder", root, seed=seed)
        assert {"solo", "lone"} <= set(splits.train.classes)
    assert splits.remarks[-1] == (
        "2 classes have a single image, which is trained on and never tested: lone, solo"
    )


def test_what_cannot_be_divided_says_what_is_needed(tmp_path):
    with pytest.raises(
        DataError, match=r"two classes with four images or more .* got 0; by classes"
    ):
        open_images("folder", layouts.folders(tmp_path, classes=5, images=1))


def test_published_test_classes_are_not_drawn(tmp_path):
    root = layouts.cub200(tmp_path)
    for how in ({"test_share": 0.3}, {"split": "images"}):
        with pytest.raises(DataError, match="cub200: the test classes are those of the published"):
            open_images("cub200", root, **how)
    with pytest.raises(ValueError, match=r"test_share must be between 0 and 1, got 1.5"):
        open_images("cub200", root, test_share=1.5)


def test_given_parts_of_few_classes_get_their_validation_from_the_images(tmp_path):
    for part in ("train", "test"):
        layouts.folders(tmp_path / part, classes=3, images=6)
    splits = open_images("folder", tmp_path)
    assert counts(splits) == [(3, 12), (3, 6), (3, 18)]
