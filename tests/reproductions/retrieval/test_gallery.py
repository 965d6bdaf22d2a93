from __future__ import annotations

import io

import numpy as np
import torch
from PIL import Image

from rankwise.data.images import ImageSet
from reproductions.retrieval.gallery import gallery, tile

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
        shown = gallery(IMAGES, [0], {"ours": [results]}, "gray, pretrained")
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
