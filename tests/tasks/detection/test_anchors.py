from __future__ import annotations

import pytest
import torch

from rankwise.tasks.detection import Anchors, grid_anchors


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
