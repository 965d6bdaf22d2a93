"""All the images of a data set for classification, as its reader found them: not yet divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.images.base import ImageSet
from rankwise.data.images.labelled import LabelledImages
from rankwise.data.images.listing import Listing, Part, in_order
from rankwise.data.images.pictures import BrokenImage

__all__ = ["Pool", "pool_of"]


@dataclass(frozen=True, eq=False)
class Pool:
    """Images with their targets; ``parts`` where the data set says itself what is to test on.

    ``groups``: images of one group (a patient) stay together when validation is drawn.
    """

    name: str
    target: Tensor  # long, (n,) or (n, classes)
    classes: tuple[str, ...]
    parts: Sequence[Part] | None = None
    paths: Sequence[Path] | None = None
    pixels: Tensor | None = None
    groups: Sequence[str] | None = None
    broken: Mapping[int, BrokenImage] = field(default_factory=dict)

    def images(self) -> LabelledImages:
        """Everything there is, as one set."""
        labels, names = self.target, self.classes
        if self.target.ndim == 2:
            found, labels = torch.unique(self.target, dim=0, return_inverse=True)
            names = tuple(_combined(row, self.classes) for row in found.tolist())
        paths = None if self.paths is None else tuple(self.paths)
        images = ImageSet(self.name, labels, names, paths, self.pixels)
        return LabelledImages(images, self.target, self.classes)


def pool_of(listing: Listing, order: Sequence[str] | None = None) -> Pool:
    """What a reader of retrieval data found, for classification; ``order`` is that of the classes.

    Its parts are kept where test images are of classes that are trained on, too; else they are
    retrieval's (other classes to test on), and are not looked at.
    """
    named = list(listing.labels)
    ids = {name: number for number, name in enumerate(order or in_order(named))}
    target = torch.tensor([ids[name] for name in named], dtype=torch.long)
    by_part = {
        part: {n for n, p in zip(named, listing.parts, strict=True) if p == part}
        for part in ("train", "test")
    }
    given = listing.parts if by_part["train"] & by_part["test"] else None
    return Pool(
        listing.name,
        target,
        tuple(ids),
        parts=given,
        paths=listing.paths,
        pixels=listing.pixels,
        broken=listing.broken,
    )


def _combined(row: list[int], classes: tuple[str, ...]) -> str:
    return "+".join(name for name, has in zip(classes, row, strict=True) if has) or "none"
