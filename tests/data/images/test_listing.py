"""A split that a run kept gives the same parts again, whatever was added to the folder."""

from __future__ import annotations

import pytest
from tests.data.images import layouts
from tests.data.images.layouts import write_image

from rankwise.data import DataError
from rankwise.data.images import open_images
from rankwise.data.images._listing import by_halves, in_order, located, require_unseen
from rankwise.data.images.readers import open_classes


def test_the_first_half_of_the_classes_trains():
    order = ["a", "b", "c", "d", "e"]
    assert by_halves(["e", "a", "b", "c"], order) == ["test", "train", "train", "test"]


def test_numbers_in_names_are_ordered_by_value():
    assert in_order(["c10", "c9", "c9", "b", "2", "10"]) == ["2", "10", "b", "c9", "c10"]
    assert in_order(["a01", "a1"]) == ["a01", "a1"]  # equal by value: by their letters


def paths(splits):
    return [
        getattr(part, "images", part).paths
        for part in (splits.train, splits.validation, splits.test)
    ]


@pytest.mark.parametrize("open_any", [open_images, open_classes])
def test_images_added_to_a_folder_do_not_change_the_split_of_a_run(tmp_path, open_any):
    root = layouts.folders(tmp_path, classes=10, images=5)
    first = open_any("folder", root, seed=3, test_share=0.3)
    for i in range(4):
        write_image(root / "aa" / f"{i}.png")
    write_image(root / "c3" / "new.png")
    assert paths(open_any("folder", root, seed=3, test_share=0.3)) != paths(first)
    again = open_any("folder", root, seed=3, test_share=0.3, recorded=first.record)
    assert paths(again) == paths(first)
    assert again.record == first.record
    assert "split: as recorded by the run, 50 images" in again.describe()
    assert "5 images are not in the recorded split, and left out" in again.describe()


def test_a_recorded_tail_is_not_cut_again(tmp_path):
    root = layouts.folders(tmp_path, classes=3, images=20)
    first = open_classes("folder", root, imbalance=4, tail_in="train")
    again = open_classes("folder", root, imbalance=4, tail_in="train", recorded=first.record)
    assert paths(again) == paths(first)


def test_a_moved_folder_is_found_and_another_one_refused(tmp_path):
    root = layouts.folders(tmp_path / "photos", classes=8)
    first = open_images("folder", root)
    moved = root.rename(tmp_path / "elsewhere")
    assert len(open_images("folder", moved, recorded=first.record).test) == len(first.test)
    other = tmp_path / "other"
    for i in range(8):
        write_image(other / f"k{i}" / "a.png")
    with pytest.raises(DataError, match="other: has none of the 16 images of the recorded split"):
        open_images("folder", other, recorded=first.record)


def test_recorded_images_that_are_gone_are_named(tmp_path):
    root = layouts.folders(tmp_path, classes=8)
    first = open_images("folder", root)
    first.test.paths[0].unlink()
    with pytest.raises(DataError, match=r"1 image is missing or damaged: .*there is no such file"):
        open_images("folder", root, recorded=first.record)
    again = open_images("folder", root, recorded=first.record, skip_broken=True)
    assert len(again.test) == len(first.test) - 1


def test_a_published_data_set_keeps_no_record(tmp_path):
    assert open_images("cub200", layouts.cub200(tmp_path)).record == ()


def test_the_folder_is_the_one_with_a_marker(tmp_path):
    inner = tmp_path / "Usual"
    inner.mkdir()
    with pytest.raises(DataError, match=r"no list\.txt or images here nor in Usual"):
        located(tmp_path, "Usual", "list.txt", "images")
    (inner / "images").mkdir()
    assert located(tmp_path, "Usual", "list.txt", "images") == inner
    (tmp_path / "list.txt").touch()
    assert located(tmp_path, "Usual", "list.txt", "images") == tmp_path
    with pytest.raises(DataError, match="no such folder"):
        located(tmp_path / "gone", "Usual", "list.txt")


def test_test_classes_must_be_unseen():
    parts = ["train", "train", "train", "test", "test"]
    require_unseen("abacc", parts, "here")
    with pytest.raises(DataError, match=r"here: 2 classes are both .* the first is 'b'"):
        require_unseen("abccb", parts, "here")
