from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from PIL import Image

from rankwise.data.images import ImageSet
from reproductions.retrieval.gallery import Answers, gallery, tile

PIXELS = torch.full((4, 1, 9, 9), 128, dtype=torch.uint8)
IMAGES = ImageSet("gray", torch.tensor([0, 0, 1, 1]), ("a", "b"), pixels=PIXELS)


def test_a_tile_has_a_frame_around_the_picture():
    found = tile(IMAGES, 0, (1, 2, 3))
    middle = len(found) // 2
    assert found.shape[0] == found.shape[1]
    assert found[middle, middle].tolist() == [128, 128, 128]
    assert found[middle, 4].tolist() == [1, 2, 3]
    assert found[0, 0].tolist() == [255, 255, 255]


def test_right_results_are_framed_green_and_wrong_ones_red():
    def colors(results):
        shown = gallery(IMAGES, [0], [Answers("ours", [results], [(1,)])], "gray, pretrained")
        picture = np.asarray(Image.open(io.BytesIO(shown.png)).convert("RGB")).astype(int)
        red, green, blue = picture.transpose(2, 0, 1)
        greens = ((green > red + 60) & (green > blue + 60)).sum()
        reds = ((red > green + 60) & (red > blue + 60)).sum()
        return greens, reds, shown.caption

    greens, reds, words = colors((1,))
    assert greens > 100
    assert reds == 0
    assert "Right of 1: ours 1" in words
    greens, reds, words = colors((2, 3))
    assert greens == 0
    assert reds > 100
    assert "Right of 2: ours 0" in words


def test_the_curve_of_a_query_is_precision_at_the_rank_of_each_positive():
    answers = Answers("ours", [(1,), (1,)], [(1, 4, 6), (2,)])
    recall, precision = answers.curve(0)
    assert recall.tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert precision.tolist() == pytest.approx([1, 2 / 4, 3 / 6])
    assert answers.average_precisions == pytest.approx([2 / 3, 1 / 2])


def test_both_methods_have_a_line_of_results_and_their_precision_is_read_out():
    both = [
        Answers("ours", [(1,), (3,)], [(1,), (1,)]),
        Answers("other", [(2,), (0,)], [(3,), (2,)]),
    ]
    found = gallery(IMAGES, [0, 2], both, "gray, pretrained")
    assert "Of 2 results of each method are right: ours 2, other 0." in found.description
    assert "AP by query: ours 1.00, 1.00; other 0.33, 0.50." in found.description
    assert found.png != gallery(IMAGES, [0, 2], both[::-1], "gray, pretrained").png
