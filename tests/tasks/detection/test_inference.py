"""The best of all anchors, in the picture's own pixels."""

from __future__ import annotations

import torch
from tests.tasks.detection.cases import pictures, settings

from rankwise.tasks.detection.inference import detect, select
from rankwise.tasks.detection.network import Dense
from rankwise.tasks.detection.settings import Augmentations, Selection
from rankwise.tasks.detection.task import new_detector
from rankwise.vision.anchors import Anchors

ANCHORS = Anchors(
    torch.tensor([[0.0, 0, 10, 10], [1, 0, 11, 10], [20, 20, 30, 30], [90, 90, 130, 130]]), (4,)
)


def dense(logits):
    scores = torch.tensor(logits, dtype=torch.float32).unsqueeze(0)
    return Dense(scores, torch.zeros(1, 4, 4), ANCHORS)


def test_near_copies_of_a_class_go_and_of_another_stay():
    (found,) = select(
        dense([[3.0, 1.0], [2.0, 2.5], [0.0, -9], [-1, -8]]), [(100, 100)], Selection()
    )
    kept = list(zip(found.labels.tolist(), found.scores.tolist(), strict=True))
    assert kept == [(0, 3.0), (1, 2.5), (0, 0.0), (0, -1.0), (1, -8.0), (1, -9.0)]
    assert found.boxes[1].tolist() == [1, 0, 11, 10]


def test_boxes_are_cut_at_the_edges_and_only_the_best_stay():
    scores = [[0.0, -5], [0, -6], [1, -7], [2, -8]]
    (found,) = select(dense(scores), [(100, 95)], Selection(maximum=2))
    assert found.boxes.tolist() == [[90, 90, 100, 95], [20, 20, 30, 30]]
    (two,) = select(dense(scores), [(100, 95)], Selection(candidates=1))
    assert len(two) == 1
    (outside,) = select(dense(scores), [(80, 80)], Selection(candidates=1))
    assert len(outside) == 0


def test_by_class_every_class_has_its_own_best():
    """All scores of the first class are below those of the second, which changes nothing."""
    scores = [[-20.0, 5], [-31, 4], [-22, 3], [-23, 2]]
    (mixed,) = select(dense(scores), [(200, 200)], Selection(candidates=3, maximum=2))
    assert mixed.labels.tolist() == [1, 1]
    (apart,) = select(
        dense(scores), [(200, 200)], Selection(candidates=3, maximum=2, per_class=True)
    )
    assert apart.labels.tolist() == [1, 1, 0, 0]
    assert apart.scores.tolist() == [5, 3, -20, -22]  # the second of class 1 is a near copy


def test_high_logits_are_not_tied():
    (found,) = select(
        dense([[40.0, 0], [-9, 0], [41, 0], [39, 0]]), [(200, 200)], Selection(maximum=3)
    )
    assert found.scores.tolist() == [41, 40, 39]
    assert len(found.above(40.5)) == 1


def test_boxes_come_back_in_the_images_own_pixels():
    asked = settings()
    network = new_detector(asked, 2)
    some = pictures("x", 3, size=(80, 60))
    found = detect(network, [some.load(i) for i in range(3)], asked.augmentations, asked.selection)
    assert network.training  # as it was
    for one in found:
        assert 0 < len(one) <= 100
        assert float(one.boxes[:, 2].max()) <= 80
        assert float(one.boxes[:, 3].max()) <= 60
        assert float(one.boxes[:, 2].max()) > 64  # beyond what the network saw
        assert (one.scores.diff() <= 0).all()


def test_test_side_keeps_the_shape_and_pads():
    asked = settings()
    network = new_detector(asked, 2)
    some = [torch.zeros(3, 60, 90, dtype=torch.uint8), torch.zeros(3, 40, 40, dtype=torch.uint8)]
    wide, small = detect(
        network, some, Augmentations(height=64, width=64, test_side=48), asked.selection
    )
    assert float(wide.boxes[:, 2].max()) <= 90 + 1e-3
    assert float(wide.boxes[:, 3].max()) <= 60 + 1e-3
    assert float(small.boxes.max()) <= 40  # never enlarged
