"""Pascal VOC's layout, and what is wrong with it."""

from __future__ import annotations

import pytest
from tests.data.detection.layouts import voc_folder

from rankwise.data import DataError
from rankwise.data.detection.voc import voc

LISTS = {
    "train": {"one": [("cat", (1, 1, 10, 20), False), ("dog", (5, 6, 9, 9), True)], "two": []},
    "test": {"three": [("dog", (2, 2, 40, 30), False)]},
}


def test_pixels_are_counted_from_one_and_the_last_belongs_to_the_box(tmp_path):
    listed = voc(voc_folder(tmp_path, LISTS), "train")
    assert [p.path.name for p in listed.pictures] == ["one.jpg", "two.jpg"]
    first, second = listed.pictures
    assert first.size == (40, 30)
    assert [box.corners for box in first.boxes] == [(0, 0, 10, 20), (4, 5, 9, 9)]
    assert [box.label for box in first.boxes] == ["cat", "dog"]
    assert [box.ignored for box in first.boxes] == [False, True]
    assert second.boxes == []


@pytest.mark.parametrize("within", ["VOC2007", "VOCdevkit/VOC2012", "BCCD"])
def test_the_folders_may_be_below_the_root(tmp_path, within):
    voc_folder(tmp_path / within, LISTS)
    assert len(voc(tmp_path, "train").pictures) == 2


def test_several_years_are_told_apart_by_name(tmp_path):
    for year in ("VOC2007", "VOC2012"):
        voc_folder(tmp_path / year, LISTS)
    assert len(voc(tmp_path, "VOC2007/train").pictures) == 2
    with pytest.raises(DataError, match="VOC2007/trainval"):
        voc(tmp_path, "train")


def test_lists_of_one_class_have_a_second_word(tmp_path):
    root = voc_folder(tmp_path, LISTS)
    (root / "ImageSets" / "Main" / "cat_train.txt").write_text("one  1\ntwo -1\n")
    assert len(voc(root, "cat_train").pictures) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda root: (root / "Annotations" / "one.xml").write_text("<annota"), "one.xml.*not xml"),
        (lambda root: (root / "Annotations" / "one.xml").unlink(), "one.xml.*a list names it"),
        (
            lambda root: (root / "Annotations" / "one.xml").write_text(
                "<annotation><object><name>cat</name></object></annotation>"
            ),
            "cat has no bndbox",
        ),
        (
            lambda root: (root / "Annotations" / "one.xml").write_text(
                "<annotation><object><bndbox/></object></annotation>"
            ),
            "has no name",
        ),
        (
            lambda root: (root / "Annotations" / "one.xml").write_text(
                (root / "Annotations" / "one.xml").read_text().replace(">20<", ">nan<")
            ),
            "ymax must be finite",
        ),
        (
            lambda root: (root / "Annotations" / "one.xml").write_text(
                (root / "Annotations" / "one.xml").read_text().replace(">20<", ">x<")
            ),
            "ymax must be a number, got 'x'",
        ),
        (
            lambda root: (root / "ImageSets" / "Main" / "train.txt").write_text("one\none\n"),
            "named twice, one",
        ),
        (
            lambda root: (root / "ImageSets" / "Main" / "train.txt").rename(root / "x"),
            "no such list; there are test",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, words):
    root = voc_folder(tmp_path, LISTS)
    change(root)
    with pytest.raises(DataError, match=words):
        voc(root, "train")


def test_a_folder_without_the_layout(tmp_path):
    with pytest.raises(DataError, match="no folder Annotations"):
        voc(tmp_path, "train")
    with pytest.raises(DataError, match="no such folder"):
        voc(tmp_path / "nowhere", "train")
