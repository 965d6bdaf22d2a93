"""COCO's numbers: by hand, and equal to its own code on its own files."""

from __future__ import annotations

import contextlib
import io
import json
import math

import pytest
import torch
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from tests.tasks.detection.cases import pictures, settings

from rankwise.data.detection import DetectionSet, Objects
from rankwise.tasks.detection.evaluate import best_thresholds, evaluate, match, sentence
from rankwise.tasks.detection.inference import Detections, detect_all
from rankwise.tasks.detection.task import new_detector


def of(*rows):
    """Detections of (box, score, label)."""
    boxes = torch.tensor([row[0] for row in rows], dtype=torch.float32).reshape(-1, 4)
    scores = torch.tensor([row[1] for row in rows], dtype=torch.float32)
    return Detections(boxes, scores, torch.tensor([row[2] for row in rows], dtype=torch.long))


def one_picture(boxes, labels, classes=("a", "b")):
    objects = Objects.plain(torch.tensor(boxes, dtype=torch.float32), torch.tensor(labels))
    pixels = (torch.zeros(3, 100, 100, dtype=torch.uint8),)
    return DetectionSet("one", classes, (objects,), ((100, 100),), pixels=pixels)


def test_by_hand():
    """Right, wrong, right: precision 1 up to recall 1/2, then 2/3."""
    truth = one_picture([[0, 0, 40, 40], [50, 50, 90, 90]], [0, 0])
    found = of(([0, 0, 40, 40], 3.0, 0), ([0, 55, 40, 95], 2.0, 0), ([50, 50, 90, 90], 1.0, 0))
    result = evaluate(truth, [found])
    # 101 recalls: 0, .01, …, .5 at precision 1 and 50 more at 2/3.
    wanted = (51 + 50 * 2 / 3) / 101
    assert result.ap == pytest.approx(wanted)
    assert result.by_class["a"] == pytest.approx(wanted)
    assert math.isnan(result.by_class["b"])
    assert math.isnan(result.small)
    assert result.medium == pytest.approx(wanted)
    assert (result.images, result.objects) == (1, 2)
    assert result.as_json()["by_class"] == {"a": result.by_class["a"], "b": None}


def test_a_loose_box_counts_at_one_half_only():
    truth = one_picture([[0, 0, 40, 40]], [1])
    result = evaluate(truth, [of(([0, 0, 40, 28], 0.0, 1))])  # IoU .7
    assert result.ap50 == pytest.approx(1.0)
    assert result.ap75 == 0.0
    assert result.ap == pytest.approx(0.5)  # .5, .55, .6, .65, .7 of ten


def test_nothing_found_and_nothing_there():
    truth = one_picture([[0, 0, 40, 40]], [0])
    assert evaluate(truth, [of()]).ap == 0.0
    bare = one_picture(torch.zeros(0, 4).tolist(), [], ("a",))
    assert math.isnan(evaluate(bare, [of(([0, 0, 9, 9], 1.0, 0))]).ap)
    with pytest.raises(ValueError, match="one for each of 1 images, got 0"):
        evaluate(truth, [])


def test_equal_to_cocos_own_code_on_its_own_files(tmp_path):
    """Random boxes with crowds and areas of their own, written as json and read by pycocotools."""
    rng = torch.Generator().manual_seed(5)
    objects, found, images, annotations, results = [], [], [], [], []
    for image in range(8):
        n, m = 6, 20
        corner = torch.rand(n, 2, generator=rng) * 150
        sides = torch.rand(n, 2, generator=rng) * 120 + 4
        boxes = torch.cat([corner, corner + sides], 1)
        labels = torch.randint(3, (n,), generator=rng)
        crowd = torch.rand(n, generator=rng) < 0.2
        areas = sides.prod(1) * 0.8
        objects.append(Objects(boxes, labels, crowd, areas))
        images.append({"id": 100 + image, "width": 300, "height": 300, "file_name": "x"})
        for i in range(n):
            x1, y1, x2, y2 = boxes[i].tolist()
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": 100 + image,
                    "category_id": 10 + int(labels[i]),
                    "bbox": [x1, y1, x2 - x1, y2 - y1],
                    "area": areas[i].item(),
                    "iscrowd": int(crowd[i]),
                }
            )
        near = boxes[torch.randint(n, (m,), generator=rng)]
        near = near + torch.randn(m, 4, generator=rng) * 4
        near[:, 2:] = torch.maximum(near[:, 2:], near[:, :2] + 1)
        scores = torch.randn(m, generator=rng)
        guess = torch.randint(3, (m,), generator=rng)
        found.append(Detections(near, scores, guess))
        for i in range(m):
            x1, y1, x2, y2 = near[i].tolist()
            results.append(
                {
                    "image_id": 100 + image,
                    "category_id": 10 + int(guess[i]),
                    "bbox": [x1, y1, x2 - x1, y2 - y1],
                    "score": scores[i].item(),
                }
            )
    pixels = (torch.zeros(3, 1, 1, dtype=torch.uint8),) * 8
    ours = evaluate(
        DetectionSet("x", ("a", "b", "c"), tuple(objects), ((300, 300),) * 8, pixels=pixels), found
    )
    categories = [{"id": 10 + i, "name": name} for i, name in enumerate("abc")]
    tree = {"images": images, "annotations": annotations, "categories": categories}
    (tmp_path / "truth.json").write_text(json.dumps(tree))
    (tmp_path / "found.json").write_text(json.dumps(results))
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(tmp_path / "truth.json"))
        theirs = COCOeval(truth, truth.loadRes(str(tmp_path / "found.json")), "bbox")
        theirs.evaluate()
        theirs.accumulate()
        theirs.summarize()
    assert 0.05 < ours.ap < 0.9
    mine = [ours.ap, ours.ap50, ours.ap75, ours.small, ours.medium, ours.large]
    assert mine == theirs.stats[:6].tolist()
    own = theirs.eval["precision"][:, :, 1, 0, 2]
    assert ours.by_class["b"] == own[own > -1].mean()


def test_it_prints_nothing(capsys):
    evaluate(one_picture([[0, 0, 40, 40]], [0]), [of()])
    assert capsys.readouterr().out == ""


def test_the_best_threshold_by_hand():
    """Right 5, right 3, wrong 2, right 1 of three objects: F1 is .8 after two, 6/7 after four."""
    boxes = [[0, 0, 20, 20], [30, 0, 50, 20], [0, 50, 20, 70], [60, 60, 90, 90]]
    truth = one_picture(boxes, [0, 0, 0, 1])
    found = of(
        ([0, 0, 20, 20], 5.0, 0),
        ([30, 0, 50, 20], 3.0, 0),
        ([30, 0, 50, 21], 2.0, 0),  # the object is taken
        ([0, 50, 20, 70], 1.0, 0),
        ([60, 60, 90, 90], -4.0, 1),
    )
    assert best_thresholds(truth, [found]) == [1.0, -4.0]
    assert best_thresholds(truth, [found.above(2.0)]) == [3.0, 1.0]
    assert best_thresholds(truth, [of()]) == [1.0, 1.0]
    other = best_thresholds(truth, [of(([0, 0, 20, 20], 5.0, 1))])  # of another class
    assert other == [1.0, 6.0]
    assert len(found.above([3.0, -5.0])) == 3


def test_detecting_over_a_set_is_the_same_with_kept_maps():
    frozen = {"frozen": 5}
    views = {"expand": 1, "colors": False}
    asked = settings(network=frozen, augmentations=views)
    test, kept = pictures("test", 5, 3), {}
    network = new_detector(asked, 2).eval()
    plain = detect_all(network, test, asked)
    for _ in range(2):
        with_maps = detect_all(network, test, asked, cache=kept)
        for one, other in zip(plain, with_maps, strict=True):
            torch.testing.assert_close(one.scores, other.scores, atol=1e-5, rtol=1e-5)
    assert len(kept) == 5


def test_objects_found_and_wrong_boxes_are_counted_from_the_thresholds_on():
    truth = one_picture([[0, 0, 40, 40], [50, 50, 90, 90]], [0, 1])
    found = of(([0, 0, 40, 40], 3.0, 0), ([0, 55, 40, 95], 2.0, 0), ([50, 50, 90, 90], 1.0, 1))
    matched = match(truth, [found])
    assert sentence(matched, [0.0, 0.0]) == (
        "The detector finds 2 of the 2 objects in the test images; 1 of its 3 boxes are wrong."
    )
    assert sentence(matched, [2.5, 1.5]) == (
        "The detector finds 1 of the 2 objects in the test images; 0 of its 1 boxes are wrong."
    )
    assert sentence(matched, [9.0, 9.0]).endswith("in the test images; it draws no box.")
