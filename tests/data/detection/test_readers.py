"""Parts, classes, and boxes that are cut or dropped by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.data.detection.layouts import coco_folder, coco_tree, image, voc_folder

from rankwise.data import DataError
from rankwise.data.detection import DetectionSet, Objects, open_detection
from rankwise.data.images import BrokenImage

BAD = {
    "train": {
        "one": [("cat", (1, 1, 10, 20), False), ("cat", (7, 8, 7, 8), False)],
        "two": [("dog", (30, 20, 50, 40), False), ("dog", (60, 5, 70, 9), False)],
        "three": [],
    },
    "test": {"four": [("dog", (2, 2, 40, 30), False)]},
}


def opened(root, **changes):
    asked = {"train": ["train"], "test": ["test"], "validation_share": 0.4, **changes}
    return open_detection("voc", root, **asked)


def test_boxes_are_cut_or_dropped_and_named_with_their_count(tmp_path):
    splits = opened(voc_folder(tmp_path, BAD), validation=["test"])
    assert splits.train.classes == ("cat", "dog")
    assert [len(one) for one in splits.train.objects] == [1, 1, 0]
    torch.testing.assert_close(
        splits.train.objects[1].boxes, torch.tensor([[29.0, 19.0, 40.0, 30.0]])
    )
    assert splits.train.objects[1].areas.tolist() == [121.0]
    dropped, clipped = splits.issues.lines()
    assert dropped == (
        "2 boxes without area in their image: dropped "
        "(one.jpg: cat 7 8 7 8; two.jpg: dog 59 4 70 9)"
    )
    assert clipped == "1 box over the edge of its image: cut (two.jpg: dog 29 19 50 40)"
    said = splits.describe()
    assert "train: 3 images, 2 objects (cat 1, dog 1); 1 without objects, which are kept" in said
    assert dropped in said


def test_a_long_list_is_cut_after_ten(tmp_path):
    many = [("cat", (7, 8, 7, 8), False)] * 12
    lists = {"train": {"one": many, "two": []}, "test": {"four": many[:0] + BAD["test"]["four"]}}
    (line,) = opened(voc_folder(tmp_path, lists)).issues.lines()
    assert line.startswith("12 boxes")
    assert line.count("one.jpg") == 10
    assert "and 2 more" in line


def test_validation_is_a_share_of_the_training_images_drawn_by_the_seed(tmp_path):
    lists = {
        "train": {f"p{i}": [("cat", (1, 1, 5, 5), False)] for i in range(10)},
        "test": BAD["test"],
    }
    root = voc_folder(tmp_path, lists)
    parts = [opened(root, seed=seed) for seed in (0, 0, 1)]
    names = [[path.name for path in part.validation.paths] for part in parts]
    assert len(names[0]) == 4
    assert names[0] == names[1] != names[2]
    assert not {*parts[0].train.paths} & {*parts[0].validation.paths}
    assert len(parts[0].train) == 6


def test_missing_images_are_named_or_left_out(tmp_path):
    root = voc_folder(tmp_path, BAD)
    (root / "JPEGImages" / "one.jpg").unlink()
    (root / "JPEGImages" / "two.jpg").write_bytes(b"")
    with pytest.raises(DataError, match=r"2 images are missing.*one.jpg.*two.jpg: is empty"):
        opened(root, validation=["test"])
    splits = opened(root, validation=["test"], skip_broken=True)
    assert len(splits.train) == 1
    assert "left out: 2 images" in splits.describe()


def test_a_image_of_another_size_than_its_annotation_is_broken(tmp_path):
    root = voc_folder(tmp_path, BAD)
    image(root / "JPEGImages" / "four.jpg", (30, 40))
    splits = opened(root)
    with pytest.raises(BrokenImage, match="30×40 pixels, its annotation says 40×30"):
        splits.test.load(0)


def test_coco_in_parts(tmp_path):
    splits = open_detection(
        "coco", coco_folder(tmp_path), train=["train2017"], test=["val2017"], validation_share=0.5
    )
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (1, 1, 2)
    assert splits.test.load(0).shape == (3, 30, 40)
    boxes, labels = splits.test.objects[0].trained()
    assert (len(boxes), labels.tolist()) == (1, [1])  # the crowd is left out
    assert splits.test.objects[0].areas.tolist() == [77.5, 16.0]


def test_files_of_other_categories(tmp_path):
    other = coco_tree(categories=[{"id": 1, "name": "cow"}, {"id": 3, "name": "dog"}])
    root = coco_folder(tmp_path, test=other)
    with pytest.raises(DataError, match="other categories"):
        open_detection("coco", root, train=["train2017"], test=["val2017"])


def test_classes_of_a_network_come_in_its_order_and_others_are_refused(tmp_path):
    root = voc_folder(tmp_path, BAD)
    assert opened(root, classes=["dog", "cat", "cow"]).test.objects[0].labels.tolist() == [0]
    with pytest.raises(DataError, match="has a dog, and the classes are cat"):
        opened(root, classes=["cat"])


def test_no_objects_at_all(tmp_path):
    with pytest.raises(DataError, match="there are no objects"):
        opened(voc_folder(tmp_path, {"train": {"a": [], "b": []}, "test": {"c": []}}))


def test_arguments(tmp_path):
    with pytest.raises(ValueError, match="kind must be"):
        open_detection("yolo", tmp_path, train=["a"], test=["b"])
    with pytest.raises(ValueError, match="validation_share"):
        open_detection("voc", tmp_path, train=["a"], test=["b"], validation_share=1.0)
    with pytest.raises(ValueError, match="at least one list"):
        open_detection("voc", tmp_path, train=[], test=["b"])


def test_a_set_checks_what_it_is_given():
    one = Objects.plain(torch.tensor([[0, 0, 4, 5]]), torch.tensor([1]))
    assert one.areas.tolist() == [20.0]
    pixels = (torch.zeros(3, 8, 8, dtype=torch.uint8),)
    good = DetectionSet("x", ("a", "b"), (one,), ((8, 8),), pixels=pixels)
    assert good.counts.tolist() == [0, 1]
    assert good.called(0) == "image 0"
    with pytest.raises(ValueError, match="labels must be from 0 to 0"):
        DetectionSet("x", ("a",), (one,), ((8, 8),), pixels=pixels)
    with pytest.raises(ValueError, match="exactly one"):
        DetectionSet("x", ("a", "b"), (one,), ((8, 8),))
    with pytest.raises(ValueError, match="a size for each of 1"):
        DetectionSet("x", ("a", "b"), (one,), (), pixels=pixels)
    with pytest.raises(ValueError, match=r"shape \(2, 4\)"):
        Objects(torch.zeros(1, 4), torch.zeros(2), torch.zeros(2), torch.zeros(2))


def test_the_real_blood_cells_where_they_are_at_hand():
    root = Path(__file__).parents[4] / "shared" / "data" / "detection" / "bccd"
    if not root.exists():
        return
    splits = opened(root, validation=["val"])
    assert [len(part) for part in (splits.train, splits.validation, splits.test)] == [205, 87, 72]
    assert splits.train.classes == ("Platelets", "RBC", "WBC")
    assert len(splits.issues.dropped) == 2
    assert sum(int(p.counts.sum()) for p in (splits.train, splits.validation, splits.test)) == 4886
