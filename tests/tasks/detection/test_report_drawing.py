"""Boxes are drawn where they are, in the color of their class."""

from __future__ import annotations

import io

import torch
from PIL import Image

from rankwise.data.detection import Objects
from rankwise.tasks.detection.inference import Detections
from rankwise.tasks.detection.report import COLORS, drawn, drawn_truth, tiled
from rankwise.vision.gallery import to_png

GRAY = torch.full((3, 120, 160), 128, dtype=torch.uint8)
BOXES = torch.tensor([[20.0, 40, 60, 90], [100, 50, 150, 110]])


def test_edges_are_in_the_color_of_the_class_and_the_inside_is_left():
    found = Detections(BOXES, torch.tensor([2.0, 0.0]), torch.tensor([1, 0]))
    image = drawn(GRAY, found, ("a", "b"))
    assert image.size == (160, 120)
    assert image.getpixel((20, 80)) == COLORS[1]
    assert image.getpixel((150, 80)) == COLORS[0]
    assert image.getpixel((40, 80)) == (128, 128, 128)
    assert GRAY.unique().tolist() == [128]


def test_names_stand_over_the_box_or_inside_at_the_top():
    one = Objects.plain(torch.tensor([[20.0, 60, 60, 90]]), torch.tensor([0]))
    over = drawn_truth(GRAY, one, ("cell",))
    assert over.getpixel((20, 55)) == COLORS[0]
    top = Objects.plain(torch.tensor([[20.0, 0, 60, 90]]), torch.tensor([0]))
    assert drawn_truth(GRAY, top, ("cell",)).getpixel((20, 5)) == COLORS[0]


def test_nothing_found_is_the_image():
    nothing = Detections(torch.zeros(0, 4), torch.zeros(0), torch.zeros(0, dtype=torch.long))
    assert set(drawn(GRAY, nothing, ("a",)).getdata()) == {(128, 128, 128)}


def test_a_grid_and_its_png():
    image = drawn_truth(GRAY, Objects.plain(BOXES, torch.tensor([0, 1])), ("a", "b"))
    sheet = tiled([("true", image), ("one", image), ("other", image)], 2, width=80)
    assert sheet.size == (2 * 80 + 6, 2 * (20 + 60) + 6)
    assert sheet.getpixel((120, 120)) == (255, 255, 255)  # the fourth place is free
    assert Image.open(io.BytesIO(to_png(sheet))).size == sheet.size
