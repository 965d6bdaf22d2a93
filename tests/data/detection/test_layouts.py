"""COCO's layout, and what is wrong with it."""

from __future__ import annotations

import json

import pytest
from tests.data.detection.layouts import coco_folder, coco_tree, image, voc_folder

from rankwise.data import DataError
from rankwise.data.detection._layouts import coco, voc


def test_boxes_become_corners_and_classes_go_by_id(tmp_path):
    listed = coco(coco_folder(tmp_path), "train2017")
    assert listed.classes == ("cat", "dog")
    first, second = listed.images
    assert first.path == tmp_path / "train2017" / "a.png"
    assert [box.corners for box in first.boxes] == [(1, 2, 11, 14), (5, 5, 9, 9)]
    assert [box.label for box in first.boxes] == ["dog", "cat"]
    assert [box.ignored for box in first.boxes] == [False, True]
    assert [box.area for box in first.boxes] == [77.5, None]
    assert second.boxes == []


def test_a_json_by_its_path_has_its_images_beside_it(tmp_path):
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "_annotations.coco.json").write_text(json.dumps(coco_tree()))
    image(tmp_path / "train" / "a.png")
    listed = coco(tmp_path, "train/_annotations.coco.json")
    assert listed.images[0].path == tmp_path / "train" / "a.png"


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (
            coco_tree(annotations=[{"image_id": 7, "category_id": 5, "bbox": [0, 0, 1, 1]}]),
            "1 class ids have no name in categories: 5",
        ),
        (
            coco_tree(annotations=[{"image_id": 8, "category_id": 1, "bbox": [0, 0, 1, 1]}]),
            "of 1 images it does not have: 8",
        ),
        (
            coco_tree(annotations=[{"id": 4, "image_id": 7, "category_id": 1, "bbox": [0, 1]}]),
            "annotations: 0: bbox: 2: Field required",
        ),
        (
            coco_tree(
                annotations=[{"image_id": 7, "category_id": 1, "bbox": [0, 0, 1, float("nan")]}]
            ),
            "annotations: 0: bbox: 3: .* finite",
        ),
        (
            coco_tree(annotations=[{"image_id": 7, "category_id": 1}]),
            "annotations: 0: bbox: Field required, got .*; write images",
        ),
        (
            coco_tree(categories=[{"id": 1, "name": "cat"}, {"id": 3}]),
            "categories: 1: name: Field required",
        ),
        (
            coco_tree(categories=[{"id": 1, "name": "cat"}, {"id": 3, "name": "dog"}] * 2),
            "two categories of id 1",
        ),
        (
            coco_tree(categories=[{"id": 1, "name": "cat"}, {"id": 3, "name": "cat"}]),
            "the same name",
        ),
        (coco_tree(images=coco_tree()["images"] + [{"id": 7, "file_name": "c"}]), "two images"),
        (coco_tree(images=[{"id": 7}]), "images: 0: file_name: Field required"),
        ({"images": []}, "annotations: Field required"),
        ([1, 2], "is not a json of COCO: Input should be an object"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, tree, words):
    (tmp_path / "x.json").write_text(json.dumps(tree))
    with pytest.raises(DataError, match=words) as caught:
        coco(tmp_path, "x.json")
    assert "x.json" in str(caught.value)


def test_no_file_and_no_json(tmp_path):
    with pytest.raises(DataError, match=r"instances_val2017.json: there is no such file"):
        coco(tmp_path, "val2017")
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(DataError, match=r"x.json: is not a json of COCO: Invalid JSON"):
        coco(tmp_path, "x.json")


LISTS = {
    "train": {"one": [("cat", (1, 1, 10, 20), False), ("dog", (5, 6, 9, 9), True)], "two": []},
    "test": {"three": [("dog", (2, 2, 40, 30), False)]},
}


def test_pixels_are_counted_from_one_and_the_last_belongs_to_the_box(tmp_path):
    listed = voc(voc_folder(tmp_path, LISTS), "train")
    assert [p.path.name for p in listed.images] == ["one.jpg", "two.jpg"]
    first, second = listed.images
    assert first.size == (40, 30)
    assert [box.corners for box in first.boxes] == [(0, 0, 10, 20), (4, 5, 9, 9)]
    assert [box.label for box in first.boxes] == ["cat", "dog"]
    assert [box.ignored for box in first.boxes] == [False, True]
    assert second.boxes == []


@pytest.mark.parametrize("within", ["VOC2007", "VOCdevkit/VOC2012", "BCCD"])
def test_the_folders_may_be_below_the_root(tmp_path, within):
    voc_folder(tmp_path / within, LISTS)
    assert len(voc(tmp_path, "train").images) == 2


def test_several_years_are_told_apart_by_name(tmp_path):
    for year in ("VOC2007", "VOC2012"):
        voc_folder(tmp_path / year, LISTS)
    assert len(voc(tmp_path, "VOC2007/train").images) == 2
    with pytest.raises(DataError, match="VOC2007/trainval"):
        voc(tmp_path, "train")


def test_lists_of_one_class_have_a_second_word(tmp_path):
    root = voc_folder(tmp_path, LISTS)
    (root / "ImageSets" / "Main" / "cat_train.txt").write_text("one  1\ntwo -1\n")
    assert len(voc(root, "cat_train").images) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda root: (root / "Annotations" / "one.xml").write_text("<annota"), "one.xml.*not xml"),
        (lambda root: (root / "Annotations" / "one.xml").unlink(), "one.xml.*a list names it"),
        (
            lambda root: (root / "Annotations" / "one.xml").write_text("<html/>"),
            "one.xml: the root must be <annotation>, got <html>",
        ),
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
def test_what_is_wrong_in_voc_is_named(tmp_path, change, words):
    root = voc_folder(tmp_path, LISTS)
    change(root)
    with pytest.raises(DataError, match=words):
        voc(root, "train")


def test_a_folder_without_the_layout(tmp_path):
    with pytest.raises(DataError, match="no folder Annotations"):
        voc(tmp_path, "train")
    with pytest.raises(DataError, match="no such folder"):
        voc(tmp_path / "nowhere", "train")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("bbox", ["1_0", 0, 1, 1], "bbox: 0: Input should be a valid number"),
        ("bbox", [True, 0, 1, 1], "bbox: 0: Input should be a valid number"),
        ("iscrowd", "yes", "iscrowd"),
        ("area", "nan", "area"),
        ("image_id", True, "image_id"),
        ("image_id", [1], "image_id"),
        ("category_id", 10**30, "ids have no name"),
    ],
)
def test_fields_of_another_type_are_refused(tmp_path, name, value, words):
    box = {"image_id": 7, "category_id": 1, "bbox": [0, 0, 1, 1], name: value}
    (tmp_path / "a.json").write_text(json.dumps(coco_tree(annotations=[box])))
    with pytest.raises(DataError, match=words):
        coco(tmp_path, "a.json")


@pytest.mark.parametrize(
    ("width", "good"), [(20, True), (20.0, True), (20.5, False), ("20", False)]
)
def test_sizes_are_whole_numbers(tmp_path, width, good):
    images = [{"id": 7, "file_name": "a.png", "width": width, "height": 10}]
    (tmp_path / "a.json").write_text(json.dumps(coco_tree(images=images, annotations=[])))
    if good:
        assert coco(tmp_path, "a.json").images[0].size == (20, 10)
    else:
        with pytest.raises(DataError, match="images: 0: width"):
            coco(tmp_path, "a.json")


def test_ids_may_be_numbers_and_words_at_once(tmp_path):
    categories = [{"id": "x", "name": "b"}, {"id": 1, "name": "a"}]
    tree = coco_tree(categories=categories, annotations=[])
    (tmp_path / "a.json").write_text(json.dumps(tree))
    assert coco(tmp_path, "a.json").classes == ("a", "b")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"<xmin>", b"<xmin>1_0", "xmin must be a number, got '1_0"),
        (b"<xmin>", b"<xmin>nan", "xmin must be"),
        (b"<annotation>", b'<?xml version="1.0" encoding="no-such"?><annotation>', "is not xml"),
        (b"<annotation>", b'<?xml version="1.0" encoding="utf-16"?><annotation>', "is not xml"),
        (b"<annotation>", b"<annotation>\xff", "is not xml"),
    ],
)
def test_annotations_of_voc_that_are_none(tmp_path, old, new, words):
    root = voc_folder(tmp_path, LISTS)
    file = root / "Annotations" / "one.xml"
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new, 1))
    with pytest.raises(DataError, match=words):
        voc(root, "train")
