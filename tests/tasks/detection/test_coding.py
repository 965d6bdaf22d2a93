from __future__ import annotations

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.tasks.detection import decode, encode


def test_by_hand():
    anchor = torch.tensor([[0.0, 0, 10, 20]])
    box = torch.tensor([[5.0, 0, 25, 20]])  # center 15, 10; twice as wide, as high
    deltas = encode(anchor, box)
    torch.testing.assert_close(deltas, torch.tensor([[1.0, 0.0, math.log(2), 0.0]]))
    torch.testing.assert_close(decode(anchor, deltas), box)
    torch.testing.assert_close(decode(anchor, torch.zeros(1, 4)), anchor)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_decode_undoes_encode(seed):
    generator = torch.Generator().manual_seed(seed)
    low, side = (torch.rand(2, 9, 2, dtype=torch.float64, generator=generator) * 300).unbind()
    anchors, boxes = (
        torch.cat([low.roll(k, 0), low.roll(k, 0) + side.roll(k, 0) + 10], 1) for k in (0, 1)
    )
    torch.testing.assert_close(decode(anchors, encode(anchors, boxes)), boxes)


def test_wild_guesses_stay_boxes():
    anchor = torch.tensor([[0.0, 0, 16, 16]])
    for wild in (1e4, -1e4):
        deltas = torch.tensor([[0.0, 0, wild, wild]], requires_grad=True)
        box = decode(anchor, deltas)
        assert box.isfinite().all()
        assert (box[0, 2:] > box[0, :2]).all()
        assert torch.autograd.grad(box.sum(), deltas)[0].isfinite().all()


def test_no_area_and_half_precision_are_finite():
    anchor = torch.tensor([[0.0, 0, 800, 800]], dtype=torch.float16)
    point = torch.tensor([[5.0, 5, 5, 5]], dtype=torch.float16)
    assert encode(anchor, point).isfinite().all()
    assert decode(anchor, torch.zeros(1, 4, dtype=torch.float16)).tolist() == [[0, 0, 800, 800]]
