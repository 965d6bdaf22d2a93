from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.vision import box_area, decode_boxes, encode_boxes, giou, iou, nms


def boxes_of(seed: int, n: int, size: int = 12) -> torch.Tensor:
    """Boxes with corners at whole pixels, some without box_area."""
    corners = torch.randint(0, size, (n, 2, 2), generator=torch.Generator().manual_seed(seed))
    return torch.cat([corners.amin(1), corners.amax(1)], dim=1).float()


def pixels(box: torch.Tensor, size: int = 12) -> set[tuple[int, int]]:
    x1, y1, x2, y2 = box.int().tolist()
    return {(x, y) for x in range(x1, x2) for y in range(y1, y2)}


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_overlaps_count_pixels(seed):
    a, b = boxes_of(seed, 4), boxes_of(seed + 1, 4)
    found, general = iou(a, b), giou(a, b)
    for i, one in enumerate(a):
        assert box_area(a)[i] == len(pixels(one))
        for j, other in enumerate(b):
            union = len(pixels(one) | pixels(other))
            expected = len(pixels(one) & pixels(other)) / union if union else 0
            assert found[i, j].item() == pytest.approx(expected)
        x1, y1 = torch.minimum(one[:2], b[i][:2])
        x2, y2 = torch.maximum(one[2:], b[i][2:])
        around, union = float((x2 - x1) * (y2 - y1)), len(pixels(one) | pixels(b[i]))
        lost = (around - union) / around if around else 0
        assert general[i].item() == pytest.approx(found[i, i].item() - lost, abs=1e-6)


def test_giou_by_hand():
    unit = torch.tensor([[0.0, 0.0, 1.0, 1.0]])
    assert giou(unit, unit).item() == 1
    assert giou(unit, unit + torch.tensor([2.0, 0, 2, 0])).item() == pytest.approx(-1 / 3)


def test_giou_has_the_gradient_of_differences():
    a = torch.tensor([[1.0, 2, 5, 9], [0, 0, 2, 2]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[2.0, 1, 7, 6], [5, 5, 6, 8]], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: giou(x, b), a)


def test_boxes_without_area_are_finite_with_their_gradient():
    boxes = torch.tensor([[3.0, 3, 3, 3], [1, 1, 1, 5], [2, 2, 1, 1], [0, 0, 4, 4]])
    for other in boxes:
        a = boxes.clone().requires_grad_()
        value = giou(a, other.expand(4, 4))
        assert value.isfinite().all()
        assert torch.autograd.grad(value.sum(), a)[0].isfinite().all()
    assert iou(boxes[:2], boxes[:2]).tolist() == [[0, 0], [0, 0]]


def test_half_precision_does_not_overflow():
    box = torch.tensor([[0.0, 0, 1000, 1000]], dtype=torch.float16)
    assert giou(box, box).item() == 1
    assert iou(box, box).item() == 1


def greedy(boxes, scores, classes, threshold):
    """One box after the other, best first."""
    kept: list[int] = []
    for i in scores.argsort(descending=True, stable=True).tolist():
        rivals = [j for j in kept if classes[j] == classes[i]]
        if all(iou(boxes[[i]], boxes[[j]]).item() <= threshold for j in rivals):
            kept.append(i)
    return kept


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("block", [2048, 7])
def test_nms_is_greedy_class_by_class(seed, block, monkeypatch):
    monkeypatch.setattr("rankwise.vision.boxes._BLOCK", block)
    generator = torch.Generator().manual_seed(seed)
    boxes = boxes_of(seed, 60)
    scores = torch.randint(0, 30, (60,), generator=generator).float()  # with ties
    classes = torch.randint(0, 2, (60,), generator=generator)
    for threshold in (0.11, 0.31, 0.61):  # no ratio of pixels equals these
        found = nms(boxes, scores, classes, threshold)
        assert found.tolist() == greedy(boxes, scores, classes, threshold)


def test_nms_by_hand():
    boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 10, 8], [50, 50, 60, 60]])
    scores = torch.tensor([0.1, 0.9, 0.8, 0.5])
    one_class = torch.zeros(4, dtype=torch.long)
    assert nms(boxes, scores, one_class).tolist() == [1, 3]
    assert nms(boxes, scores, torch.arange(4)).tolist() == [1, 2, 3, 0]
    assert nms(boxes[:0], scores[:0], one_class[:0]).tolist() == []
    # A box that was dropped drops nothing itself: the third overlaps only the second.
    chain = torch.tensor([[0.0, 0, 10, 10], [4, 0, 14, 10], [8, 0, 18, 10]])
    assert nms(chain, scores[[1, 2, 3]], one_class[:3], 0.4).tolist() == [0, 2]


def test_nms_names_what_does_not_fit():
    with pytest.raises(ValueError, match=r"scores must have shape \(2,\), got \(3,\)"):
        nms(torch.zeros(2, 4), torch.zeros(3), torch.zeros(2))
    with pytest.raises(ValueError, match=r"boxes must have shape \(2, 4\), got \(2, 5\)"):
        nms(torch.zeros(2, 5), torch.zeros(2), torch.zeros(2))


def test_by_hand():
    anchor = torch.tensor([[0.0, 0, 10, 20]])
    box = torch.tensor([[5.0, 0, 25, 20]])  # center 15, 10; twice as wide, as high
    deltas = encode_boxes(anchor, box)
    torch.testing.assert_close(deltas, torch.tensor([[1.0, 0.0, math.log(2), 0.0]]))
    torch.testing.assert_close(decode_boxes(anchor, deltas), box)
    torch.testing.assert_close(decode_boxes(anchor, torch.zeros(1, 4)), anchor)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_decode_undoes_encode(seed):
    generator = torch.Generator().manual_seed(seed)
    low, side = (torch.rand(2, 9, 2, dtype=torch.float64, generator=generator) * 300).unbind()
    anchors, boxes = (
        torch.cat([low.roll(k, 0), low.roll(k, 0) + side.roll(k, 0) + 10], 1) for k in (0, 1)
    )
    torch.testing.assert_close(decode_boxes(anchors, encode_boxes(anchors, boxes)), boxes)


def test_wild_guesses_stay_boxes():
    anchor = torch.tensor([[0.0, 0, 16, 16]])
    for wild in (1e4, -1e4):
        deltas = torch.tensor([[0.0, 0, wild, wild]], requires_grad=True)
        box = decode_boxes(anchor, deltas)
        assert box.isfinite().all()
        assert (box[0, 2:] > box[0, :2]).all()
        assert torch.autograd.grad(box.sum(), deltas)[0].isfinite().all()


def test_no_area_and_half_precision_are_finite():
    anchor = torch.tensor([[0.0, 0, 800, 800]], dtype=torch.float16)
    point = torch.tensor([[5.0, 5, 5, 5]], dtype=torch.float16)
    assert encode_boxes(anchor, point).isfinite().all()
    assert decode_boxes(anchor, torch.zeros(1, 4, dtype=torch.float16)).tolist() == [
        [0, 0, 800, 800]
    ]
