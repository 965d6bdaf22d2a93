"""Boxes go with their pictures, whatever is done to them."""

from __future__ import annotations

import pytest
import torch

from rankwise.tasks.detection.augmentation import (
    augmented,
    colored,
    cropped,
    expanded,
    flipped,
    rescaled,
    resized,
)
from rankwise.tasks.detection.settings import Augmentations

BOXES = torch.tensor([[5.0, 10.0, 25.0, 30.0], [40.0, 8.0, 56.0, 40.0]])
LABELS = torch.tensor([0, 1])


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def picture():
    """White in the first box, half white in the second, on black."""
    found = torch.zeros(3, 48, 64)
    found[:, 10:30, 5:25] = 1.0
    found[:, 8:40, 40:56] = 0.5
    return found


def inside(shown, box):
    """Mean of the pixels inside a box, a pixel from its edge, and of a frame around it."""
    x1, y1, x2, y2 = (round(v) for v in box.tolist())
    return float(shown[:, y1 + 1 : y2 - 1, x1 + 1 : x2 - 1].mean())


def test_flipping_by_hand_and_twice_is_nothing():
    shown, boxes = flipped(picture(), BOXES)
    assert boxes.tolist() == [[39, 10, 59, 30], [8, 8, 24, 40]]
    assert inside(shown, boxes[0]) == 1.0
    again, same = flipped(shown, boxes)
    assert torch.equal(again, picture())
    assert torch.equal(same, BOXES)


def test_resizing_stretches_boxes():
    assert resized(picture(), (96, 64)).shape == (3, 96, 64)
    assert rescaled(BOXES, (48, 64), (96, 64))[0].tolist() == [5, 20, 25, 60]
    whole = picture()
    assert resized(whole, (48, 64)) is whole


@pytest.mark.parametrize("seed", range(5))
def test_the_image_is_where_the_boxes_say_on_a_canvas(seed):
    shown, boxes = expanded(picture(), BOXES, 3.0, rng(seed))
    assert shown.shape[1] >= 48
    assert shown.shape[2] >= 64
    assert inside(shown, boxes[0]) == 1.0
    assert torch.equal(boxes[:, 2:] - boxes[:, :2], BOXES[:, 2:] - BOXES[:, :2])
    assert (boxes >= 0).all()
    assert (boxes[:, 2] <= shown.shape[2]).all()


def test_a_part_has_the_objects_whose_middle_is_in_it():
    seen = set()
    for seed in range(40):
        shown, boxes, labels = cropped((picture(), BOXES, LABELS), rng(seed))
        height, width = shown.shape[1:]
        assert len(boxes) == len(labels) >= 1
        assert (boxes >= 0).all()
        assert (boxes[:, [0, 2]] <= width).all()
        assert (boxes[:, [1, 3]] <= height).all()
        assert 0.5 <= width / height <= 2
        for box, label in zip(boxes, labels.tolist(), strict=True):
            assert (box[2:] > box[:2]).all()
            if (box[2:] - box[:2]).min() > 3:
                assert inside(shown, box) == pytest.approx(1.0 if label == 0 else 0.5)
        seen.add((height, width))
    assert len(seen) > 10


def test_a_image_without_objects_is_not_cut():
    nothing = torch.zeros(0, 4), torch.zeros(0, dtype=torch.long)
    shown, boxes, _ = cropped((picture(), *nothing), rng())
    assert shown.shape == (3, 48, 64)
    assert len(boxes) == 0


def test_colors_stay_in_range_and_do_change():
    shown = [colored(picture(), rng(seed)) for seed in range(12)]
    assert all(0 <= float(one.min()) <= float(one.max()) <= 1 for one in shown)
    assert len({float(one.sum()) for one in shown}) > 6
    gray = torch.full((3, 4, 4), 0.5)  # turned hues leave gray as it is
    for seed in range(12):
        one = colored(gray, rng(seed))
        torch.testing.assert_close(one[0], one[1], atol=2e-3, rtol=0)


def test_everything_together_gives_the_wanted_size_and_the_same_for_the_seed():
    views = Augmentations(height=32, width=96)
    for seed in range(10):
        one = augmented((picture(), BOXES, LABELS), views, rng(seed))
        two = augmented((picture(), BOXES, LABELS), views, rng(seed))
        assert one[0].shape == (3, 32, 96)
        assert all(map(torch.equal, one, two))
        assert ((one[1][:, 2:] - one[1][:, :2]) >= 1).all()
        assert (one[1][:, 2] <= 96 + 1e-4).all()


def test_nothing_asked_for_is_nothing_done():
    still = Augmentations(height=48, width=64, flip=False, crop=False, expand=1, colors=False)
    shown, boxes, labels = augmented((picture(), BOXES, LABELS), still, rng())
    assert torch.equal(shown, picture())
    assert torch.equal(boxes, BOXES)
    assert torch.equal(labels, LABELS)
    one = augmented((picture(), BOXES, LABELS), still.replace(flip=True), rng(1))
    assert torch.equal(one[0], picture()) or torch.equal(one[0], picture().flip(-1))


def test_an_object_below_a_pixel_is_dropped():
    views = Augmentations(height=32, width=32, flip=False, crop=False, expand=1, colors=False)
    tiny = torch.tensor([[0.0, 0.0, 1.0, 40.0], [0.0, 0.0, 30.0, 40.0]])
    _, boxes, labels = augmented((picture(), tiny, LABELS), views, rng())
    assert labels.tolist() == [1]
    assert len(boxes) == 1
