"""Queries with their nearest images."""

from __future__ import annotations

import io
import re
from base64 import b64decode

import numpy as np
import torch
from PIL import Image

from rankwise.data.images import ImageSet
from rankwise.vision.gallery import nearest_sentence, neighbors_section

LABELS = torch.tensor([0, 0, 1, 1, 2])
IMAGES = ImageSet(
    "test",
    LABELS,
    ("cat", "<dog>", "emu"),
    pixels=(50 * torch.arange(5, dtype=torch.uint8)).reshape(5, 1, 1, 1).expand(5, 1, 80, 40),
)
# By cosine the neighbors of 0 are 1, 3, 2, 4; those of 2 are 3, 1, 0, 4.
ANGLES = torch.tensor([0.0, 0.1, 0.6, 0.3, 2.0])
EMBEDDINGS = torch.stack([ANGLES.cos(), ANGLES.sin()], 1)


def cells(section):
    """The class of frame, the words and the gray of every image, by row and by cell."""
    (table,) = section.tables
    pattern = r'src="data:image/png;base64,([^"]*)" alt="([^"]*)" class="tile (\w+)"'
    found = []
    for row in table.rows:
        found.append([])
        for cell in row:
            tiles = re.findall(pattern, cell)
            found[-1].append([(frame, words, gray(png)) for png, words, frame in tiles])
    return table.header, found


def gray(png):
    with Image.open(io.BytesIO(b64decode(png))) as image:
        assert max(image.size) == 64
        return image.convert("L").getpixel((0, 0))


def test_neighbors_are_in_order_and_marked_and_a_query_is_not_its_own():
    header, found = cells(neighbors_section(IMAGES, {"before": EMBEDDINGS}))
    assert header == ("query", "before")
    assert len(found) == 4  # the emu is alone in its class: there is nothing to find
    query, strip = found[0]
    assert query == [("query", "query: cat", 0)]
    assert strip == [
        ("right", "right: cat", 50),
        ("wrong", "wrong: &lt;dog&gt;", 150),
        ("wrong", "wrong: &lt;dog&gt;", 100),
        ("wrong", "wrong: emu", 200),
    ]
    assert [frame for frame, _, _ in found[2][1]] == ["right", "wrong", "wrong", "wrong"]


def test_queries_from_elsewhere_are_answered_by_the_whole_gallery():
    queries = IMAGES.subset([2], "queries")
    found = neighbors_section(
        IMAGES,
        {"before": EMBEDDINGS, "after": EMBEDDINGS.flip(1)},
        queries,
        {"before": EMBEDDINGS[[2]], "after": EMBEDDINGS.flip(1)[[4]]},
    )
    header, ((query, before, after),) = cells(found)
    assert header == ("query", "before", "after")
    assert query == [("query", "query: &lt;dog&gt;", 100)]
    assert [value for _, _, value in before] == [100, 150, 50, 0, 200]
    assert after[0] == ("wrong", "wrong: emu", 200)


def test_the_sentence_counts_queries_whose_first_answer_is_right():
    before = np.array([1.0, 2.0, np.nan, 3.0])
    after = np.array([1.0, 1.0, np.nan, 1.0])
    assert nearest_sentence(before, after) == (
        "The nearest image is of the right class for 3 of 3 queries, 2 more than before training; "
        "the difference may be chance."
    )
