from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PIL import Image

from rankwise.data.detection.detection_set import (
    AnnotationIssues,
    DetectionSet,
    DetectionSplits,
    Objects,
)
from rankwise.data.images.image_file import BrokenImage

BOXES = torch.tensor([[0.0, 0, 4, 2], [1, 1, 3, 5]])
TWO = Objects.plain(BOXES, torch.tensor([1, 0]))
NONE = Objects.plain(torch.zeros(0), torch.zeros(0))
PIXELS = torch.arange(3 * 8 * 6, dtype=torch.uint8).reshape(3, 8, 6)


def images(**changed):
    given = {
        "name": "cells",
        "classes": ("red", "white"),
        "objects": (TWO, NONE, TWO),
        "sizes": ((6, 8),) * 3,
        "pixels": (PIXELS, PIXELS + 1, PIXELS + 2),
    }
    return DetectionSet(**{**given, **changed})


def test_plain_objects_have_the_areas_of_their_boxes():
    assert TWO.areas.tolist() == [8.0, 8.0]
    assert not TWO.ignored.any()
    assert NONE.boxes.shape == (0, 4)
    assert len(NONE) == 0


def test_what_is_ignored_is_not_trained_on():
    some = Objects(BOXES, torch.tensor([1, 0]), torch.tensor([True, False]), torch.ones(2))
    boxes, labels = some.trained()
    assert boxes.tolist() == [[1, 1, 3, 5]]
    assert labels.tolist() == [0]


def test_a_subset_keeps_the_order_that_is_asked_for():
    some = images().subset([2, 1], "few")
    assert (some.name, len(some), some.called(0)) == ("few", 2, "image 0")
    assert torch.equal(some.load(0), PIXELS + 2)
    assert [len(one) for one in some.objects] == [2, 0]
    assert images().subset([0]).name == "cells"


def test_counts_and_description():
    assert images().counts.tolist() == [2, 2]
    assert images().subset([]).counts.tolist() == [0, 0]
    said = images().describe()
    assert said == (
        "cells: 3 images, 4 objects (red 2, white 2); 1 without objects, which are kept"
    )
    many = images(classes=tuple("abcdefg")).describe()
    assert "and 2 more classes" in many


def test_a_file_of_another_size_than_its_annotation_is_broken(tmp_path):
    path = tmp_path / "one.png"
    Image.new("RGB", (6, 8)).save(path)
    held = {"objects": (TWO,), "pixels": None, "paths": (path,)}
    good = images(**held, sizes=((6, 8),))
    assert good.load(0).shape == (3, 8, 6)
    assert good.called(0) == "one.png"
    with pytest.raises(BrokenImage, match="is 6×8 pixels, its annotation says 8×6"):
        images(**held, sizes=((8, 6),)).load(0)


def test_splits_tell_what_was_amiss():
    part = images()
    lines = (
        DetectionSplits(part, part, part, AnnotationIssues(dropped=["a"])).describe().splitlines()
    )
    assert len(lines) == 4
    assert lines[-1] == "1 box without area in its image: dropped (a)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: images(pixels=None), "either paths or pixels"),
        (lambda: images(sizes=((6, 8),)), "each of 3 images, got 3 and 1"),
        (lambda: images(classes=("red",)), "labels must be from 0 to 0, got 0 to 1"),
        (
            lambda: Objects(BOXES[:1], torch.zeros(2), torch.zeros(2), torch.zeros(2)),
            r"boxes must be of shape \(2, 4\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_nothing_amiss_has_no_line():
    assert AnnotationIssues().lines() == []


def test_a_line_for_each_kind_with_its_count_and_the_first_ten():
    found = AnnotationIssues(
        clipped=[f"box {n}" for n in range(12)],
        dropped=["one"],
        broken=[BrokenImage(Path("a.jpg"), "is empty")],
    )
    dropped, clipped, broken = found.lines()
    assert dropped == "1 box without area in its image: dropped (one)"
    assert clipped.startswith("12 boxes over the edge of their image: cut (box 0; box 1;")
    assert clipped.endswith("box 9; and 2 more)")
    assert broken.startswith("left out: ")
    assert "a.jpg" in broken
    assert "is empty" in broken
