from __future__ import annotations

import pytest
import torch

from rankwise.objectives.auc.attack import Ball

CENTER = torch.tensor([[0.0, 0.0], [1.0, 0.5]])
DELTA = torch.tensor([[3.0, -4.0], [0.1, 0.2]])


def test_the_way_back_by_hand():
    box = Ball(CENTER, 1.0, "linf", None).inside(DELTA)
    torch.testing.assert_close(box, torch.tensor([[1.0, -1.0], [0.1, 0.2]]))
    ball = Ball(CENTER, 1.0, "l2", None).inside(DELTA)
    torch.testing.assert_close(ball, torch.tensor([[0.6, -0.8], [0.1, 0.2]]))
    bounded = Ball(CENTER, 1.0, "l2", (-0.5, 1.0)).inside(DELTA)
    torch.testing.assert_close(bounded, torch.tensor([[0.6, -0.5], [0.0, 0.2]]))


def test_directions_by_hand():
    slope = torch.tensor([[3.0, -4.0], [0.0, 0.0]])
    sign = Ball(CENTER, 1.0, "linf", None).direction(slope)
    torch.testing.assert_close(sign, torch.tensor([[1.0, -1.0], [0.0, 0.0]]))
    unit = Ball(CENTER, 1.0, "l2", None).direction(slope)
    torch.testing.assert_close(unit, torch.tensor([[0.6, -0.8], [0.0, 0.0]]))


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_random_points_fill_the_ball_evenly(norm):
    center = torch.full((20_000, 1, 3), 5.0)
    generator = torch.Generator().manual_seed(0)
    delta = Ball(center, 2.0, norm, None).random(generator).flatten(1)
    length = delta.abs().amax(1) if norm == "linf" else delta.norm(dim=1)
    assert length.max() <= 2 * (1 + 1e-6)
    # In three dimensions half the radius holds an eighth of the volume.
    assert (length < 1).float().mean().item() == pytest.approx(1 / 8, abs=0.01)
    assert delta.mean(0).abs().max() < 0.03


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((CENTER.long(), 1.0, "linf", None), "x must be a floating-point tensor"),
        ((CENTER, 0.0, "linf", None), "radius must be a finite number > 0, got 0.0"),
        ((CENTER, 1.0, "l1", None), "norm must be one of 'linf', 'l2', got 'l1'"),
        ((CENTER[0], 1.0, "l2", None), r"x must have shape \(items, …\) for norm='l2', got \(2,\)"),
        ((CENTER, 1.0, "l2", (0.0, 0.5)), r"from 0.0 to 1.0, got \(0.0, 0.5\)"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Ball(*arguments)
