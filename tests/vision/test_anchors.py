from __future__ import annotations

import pytest
import torch

from rankwise.vision import Anchors, atss, grid_anchors, iou
from rankwise.vision.anchors import match


def test_places_and_sizes_by_hand():
    anchors = grid_anchors([(1, 2), (1, 1)], [8, 16], scale=2.0)
    assert anchors.levels == (2, 1)
    assert len(anchors) == 3
    assert anchors.boxes.tolist() == [[-4, -4, 12, 12], [4, -4, 20, 12], [-8, -8, 24, 24]]
    assert anchors.centers.tolist() == [[4, 4], [12, 4], [8, 8]]


def test_rows_come_first():
    centers = grid_anchors([(2, 3)], [10]).centers
    assert centers.reshape(2, 3, 2)[1, 2].tolist() == [25, 15]
    sides = grid_anchors([(2, 3)], [10]).boxes
    assert (sides[:, 2:] - sides[:, :2]).unique().tolist() == [80]


def test_elsewhere_it_is_the_same():
    anchors = grid_anchors([(2, 2)], [8])
    moved = anchors.to("meta")
    assert moved.boxes.device.type == "meta"
    assert moved.levels == anchors.levels


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"levels must add up to the 3 anchors, got \(2, 2\)"):
        Anchors(torch.zeros(3, 4), (2, 2))
    with pytest.raises(ValueError, match=r"boxes must have shape \(anchors, 4\), got \(3, 5\)"):
        Anchors(torch.zeros(3, 5), (3,))
    with pytest.raises(ValueError, match="strides must be one per level, got 1 for 2 levels"):
        grid_anchors([(2, 2), (1, 1)], [8])
    with pytest.raises(ValueError, match="scale must be a finite number > 0"):
        grid_anchors([(2, 2)], [8], scale=0)
    with pytest.raises(ValueError, match="strides must be a finite number > 0, got -8"):
        grid_anchors([(2, 2)], [-8])


def by_the_paper(anchors: Anchors, boxes: torch.Tensor, k: int) -> list[int]:
    """Algorithm 1 of ATSS, box after box."""
    owner, best = [-1] * len(anchors), [0.0] * len(anchors)
    for number, box in enumerate(boxes):
        center = (box[:2] + box[2:]) / 2
        candidates, start = [], 0
        for size in anchors.levels:
            apart = (anchors.centers[start : start + size] - center).norm(dim=1)
            candidates += (apart.argsort()[:k] + start).tolist()
            start += size
        overlaps = iou(box[None], anchors.boxes[candidates])[0]
        enough = overlaps.mean() + overlaps.std()
        for place, overlap in zip(candidates, overlaps.tolist(), strict=True):
            x, y = anchors.centers[place]
            inside = box[0] < x < box[2] and box[1] < y < box[3]
            if inside and overlap >= enough and overlap > best[place]:
                owner[place], best[place] = number, overlap
    return owner


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_papers_algorithm(seed):
    generator = torch.Generator().manual_seed(seed)
    anchors = grid_anchors([(16, 16), (8, 8), (4, 4)], [8, 16, 32], scale=4.0)
    low = torch.rand(12, 2, generator=generator) * 90
    side = 8 + torch.rand(12, 2, generator=generator) * 60
    boxes = torch.cat([low, low + side], dim=1)
    found = atss(anchors, boxes)
    assert found.tolist() == by_the_paper(anchors, boxes, 9)
    assert (found >= 0).sum() > 12


def test_every_anchor_of_a_box_is_inside_and_overlaps_it():
    anchors = grid_anchors([(16, 16), (8, 8)], [8, 16], scale=4.0)
    box = torch.tensor([[30.0, 30, 70, 60]])
    mine = atss(anchors, box) == 0
    centers = anchors.centers[mine]
    assert ((centers > box[:, :2]) & (centers < box[:, 2:])).all()
    assert iou(box, anchors.boxes[mine]).min() > 0.2


def test_of_several_boxes_the_one_it_overlaps_most():
    anchors = Anchors(torch.tensor([[0.0, 0, 10, 10], [20, 0, 30, 10]]), (2,))
    boxes = torch.tensor([[0.0, 0, 10, 13], [0, 0, 10, 10], [0, 0, 10, 12]])
    assert atss(anchors, boxes, k=1).tolist() == [1, -1]


def test_a_box_that_nothing_fits_has_no_anchor():
    anchors = grid_anchors([(2, 2)], [32])
    tiny = torch.tensor([[1.0, 1, 3, 3]])  # no center inside
    assert (atss(anchors, tiny) == -1).all()


def test_nothing_to_find_and_fewer_anchors_than_k():
    anchors = grid_anchors([(2, 2), (1, 1)], [8, 16])
    assert atss(anchors, torch.zeros(0, 4)).tolist() == [-1] * 5
    assert atss(Anchors(torch.zeros(0, 4), ()), torch.tensor([[0.0, 0, 1, 1]])).tolist() == []
    assert atss(anchors, torch.tensor([[0.0, 0, 16, 16]]), k=100).shape == (5,)


def test_bad_boxes_are_named():
    anchors = grid_anchors([(2, 2)], [8])
    with pytest.raises(ValueError, match=r"boxes must have shape \(n, 4\), got \(4,\)"):
        atss(anchors, torch.zeros(4))
    with pytest.raises(ValueError, match="k must be a whole number >= 1, got 0"):
        atss(anchors, torch.zeros(1, 4), k=0)


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
