from __future__ import annotations

import pytest
import torch

from rankwise.vision import atss, grid_anchors
from rankwise.vision._matching import match

ANCHORS = grid_anchors([(8, 8), (4, 4)], [8, 16], scale=4.0)
BOXES = torch.tensor([[5.0, 5, 40, 35], [20, 30, 60, 60]])


def target(boxes=BOXES, labels=(2, 0)):
    return {"boxes": torch.as_tensor(boxes), "labels": torch.as_tensor(labels)}


NOTHING = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.long)}


def test_positives_stand_in_the_order_of_the_labels():
    matches = match(ANCHORS, [NOTHING, target(), NOTHING, target(BOXES[:1], [1])], 3, atss)
    assert (matches.labels[[0, 2]] == -1).all()
    number = atss(ANCHORS, BOXES)
    classes = torch.tensor([2, 0, -1])[number]
    assert torch.equal(matches.labels[1], classes)
    place = matches.images, matches.anchors
    assert torch.equal(place[0].unique(), torch.tensor([1, 3]))
    for image, anchor, box in zip(*place, matches.boxes, strict=True):
        if image == 1:
            assert torch.equal(box, BOXES[number[anchor]])
        else:
            assert torch.equal(box, BOXES[0])
    assert len(matches) == int((matches.labels >= 0).sum()) > 0


def test_another_assignment_is_taken_at_its_word():
    matches = match(ANCHORS, [target()], 3, lambda anchors, boxes: torch.arange(len(anchors)) % 2)
    assert torch.equal(matches.labels[0], torch.tensor([2, 0]).repeat(40))
    with pytest.raises(ValueError, match=r"assign must give one number per anchor, shape \(80,\)"):
        match(ANCHORS, [target()], 3, lambda anchors, boxes: torch.zeros(3, dtype=torch.long))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"boxes": BOXES}, r'targets\[1\] needs "boxes" and "labels", got boxes'),
        (target(BOXES[0]), r"\[\"boxes\"\] must have shape \(n, 4\), got \(4,\)"),
        (target(labels=[0]), r"one whole number per box, shape \(2,\), got torch.int64 of shape"),
        (target(labels=[0.0, 1.0]), "one whole number per box, shape .2,., got torch.float32"),
        (target(labels=[0, 3]), "from 0 to 2, one of the 3 classes .* 1 of 2 are not, such as 3"),
        (target(labels=[-1, -1]), "2 of 2 are not, such as -1"),
        (
            target(torch.tensor([[5.0, 5, 5, 30], [1, 1, 9, 9]])),
            r"must have an area.*: 1 of 2 do not, such as \[5.0, 5.0, 5.0, 30.0\]",
        ),
        (
            target(torch.tensor([[500.0, 5, 510, 30], [1, 1, 9, 9]])),
            "must lie in the image, which the anchors cover: 1 of 2 do not",
        ),
        (target(torch.full((2, 4), torch.nan)), "must be finite: 2 of 2 do not"),
    ],
)
def test_bad_targets_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        match(ANCHORS, [target(), given], 3, atss)
