"""Query images with their nearest images, right and wrong marked, for the report of a run."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from rankwise.data.images import ImageSet
from rankwise.report import Section, Table
from rankwise.report.elements import Markup, element
from rankwise.report.html import thumbnail
from rankwise.report.verdict import counted
from rankwise.retrieval import nearest

_QUERIES, _NEAREST, _SIDE = 6, 5, 64  # images shown, and their pixels


def to_png(image: Image.Image) -> bytes:
    """Return the bytes of a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def spaced(there: int, wanted: int) -> list[int]:
    """Return ``wanted`` rows, evenly spaced over ``there`` of them."""
    found = min(there, wanted)
    return [there * i // found for i in range(found)]


def nearest_sentence(before: NDArray[np.float64], after: NDArray[np.float64]) -> str:
    """Return how often the nearest image is right, by the ranks of the first right one."""
    was, now = ((ranks[~np.isnan(ranks)] == 1).astype(np.float64) for ranks in (before, after))
    words = "The nearest image is of the right class for {count} of {total} queries"
    return counted(words, was, now, "before training")


def network_title(name: str) -> str:
    """Return the words for a network of a run: ``"untrained"``, or the name of its loss."""
    return "before training" if name == "untrained" else f"trained on {name}"


def neighbors_section(
    images: ImageSet,
    embeddings: Mapping[str, Tensor],
    queries: ImageSet | None = None,
    asked: Mapping[str, Tensor] | None = None,
) -> Section:
    """Show a few queries with the nearest images of a gallery, by the embeddings of each network.

    ``embeddings`` are those of ``images`` by network, ``asked`` those of ``queries``; without
    queries every image of the gallery is one, and is not among its own nearest images.
    """
    own = queries is None or queries is images or asked is None
    source = images if own or queries is None else queries
    answered = np.flatnonzero((images.counts[source.labels] > own).numpy())
    rows = [int(answered[place]) for place in spaced(len(answered), _QUERIES)]
    found = {}
    for name, gallery in embeddings.items():
        from_ = gallery if own or asked is None else asked[name]
        found[name] = nearest(gallery, from_[rows], _NEAREST + own).rows
    cells = []
    for place, row in enumerate(rows):
        strips = []
        for each in found.values():
            others = [i for i in each[place].tolist() if i >= 0 and not (own and i == row)]
            strips.append(
                [
                    _tile(images, i, "right" if images.labels[i] == source.labels[row] else "wrong")
                    for i in others[:_NEAREST]
                ]
            )
        shown = [element("div", strip, class_="strip") for strip in strips]
        cells.append([_tile(source, row, "query"), *shown])
    return Section(
        "Queries and their nearest images",
        [
            f"{len(rows)} test images, evenly spaced over all of them, with the {_NEAREST} nearest "
            "images that each network finds, best first. A solid green frame is an image of the "
            "right class, a dashed red one is not."
        ],
        tables=[Table(("query", *found), cells)],
    )


def _tile(images: ImageSet, row: int, class_: str) -> Markup:
    image = Image.fromarray(images.load(row).permute(1, 2, 0).contiguous().numpy())
    image.thumbnail((_SIDE, _SIDE))
    words = f"{class_}: {images.classes[int(images.labels[row])]}"
    return thumbnail(to_png(image), words, f"tile {class_}")
