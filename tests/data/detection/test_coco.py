"""COCO's layout, and what is wrong with it."""

from __future__ import annotations

import json

import pytest
from tests.data.detection.layouts import coco_folder, coco_tree, picture

from rankwise.data import DataError
from rankwise.data.detection.coco import coco


def test_boxes_become_corners_and_classes_go_by_id(tmp_path):
    listed = coco(coco_folder(tmp_path), "train2017")
    assert listed.classes == ("cat", "dog")
    first, second = listed.pictures
    assert first.path == tmp_path / "train2017" / "a.png"
    assert [box.corners for box in first.boxes] == [(1, 2, 11, 14), (5, 5, 9, 9)]
    assert [box.label for box in first.boxes] == ["dog", "cat"]
    assert [box.ignored for box in first.boxes] == [False, True]
    assert [box.area for box in first.boxes] == [77.5, None]
    assert second.boxes == []


def test_a_json_by_its_path_has_its_pictures_beside_it(tmp_path):
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "_annotations.coco.json").write_text(json.dumps(coco_tree()))
    picture(tmp_path / "train" / "a.png")
    listed = coco(tmp_path, "train/_annotations.coco.json")
    assert listed.pictures[0].path == tmp_path / "train" / "a.png"


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
            "annotation 4: bbox must be x, y, width, height",
        ),
        (
            coco_tree(
                annotations=[{"image_id": 7, "category_id": 1, "bbox": [0, 0, 1, float("nan")]}]
            ),
            "must be finite",
        ),
        (coco_tree(annotations=[{"image_id": 7, "category_id": 1}]), "has no bbox"),
        (coco_tree(categories=[{"id": 1, "name": "cat"}, {"id": 3}]), "no name: 3"),
        (
            coco_tree(categories=[{"id": 1, "name": "cat"}, {"id": 3, "name": "cat"}]),
            "the same name",
        ),
        (coco_tree(images=coco_tree()["images"] + [{"id": 7, "file_name": "c"}]), "two images"),
        (coco_tree(images=[{"id": 7}]), "an image has no file_name"),
        ({"images": []}, "list of records 'annotations'"),
        ([1, 2], "list of records 'images'"),
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
    with pytest.raises(DataError, match=r"x.json: is not json"):
        coco(tmp_path, "x.json")
