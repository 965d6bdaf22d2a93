"""All the images of a data set for classification, as its reader found them: not yet divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.data.images.base import ImageSet
from rankwise.data.images.image_file import BrokenImage
from rankwise.data.images.labeled import LabeledImages
from rankwise.data.images.listing import Listing, Part, in_order

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
    listing: Listing | None = None  # a user's own images, whose division a run keeps

    def images(self) -> LabeledImages:
        """Everything there is, as one set."""
        labels, names = self.target, self.classes
        if self.target.ndim == 2:
            found, labels = torch.unique(self.target, dim=0, return_inverse=True)
            names = tuple(_combined(row, self.classes) for row in found.tolist())
        paths = None if self.paths is None else tuple(self.paths)
        images = ImageSet(self.name, labels, names, paths, self.pixels)
        return LabeledImages(images, self.target, self.classes)


def pool_of(listing: Listing, order: Sequence[str] | None = None) -> Pool:
    """What a reader of retrieval data found, for classification; ``order`` is that of the classes.

    Its parts are kept where test images are of classes that are trained on, too; else they are
    retrieval's (other classes to test on): those of a published data set are not looked at, those
    that a user gave are refused.
    """
    named = list(listing.labels)
    ids = {name: number for number, name in enumerate(order or in_order(named))}
    target = torch.tensor([ids[name] for name in named], dtype=torch.long)
    own = listing.base is not None
    by_part = {part: {n for n, p in zip(named, listing.parts, strict=True) if p == part}
               for part in ("train", "test")}  # fmt: skip
    given = bool(by_part["train"] & by_part["test"])
    if own and by_part["test"] and not given:
        raise DataError(
            f"{listing.name}: no class of its test images is trained on, which is a division for "
            "retrieval; give images of every class in train and in test, or without parts"
        )
    given = given or (own and "validation" in listing.parts)
    return Pool(
        listing.name,
        target,
        tuple(ids),
        parts=listing.parts if given else None,
        paths=listing.paths,
        pixels=listing.pixels,
        broken=listing.broken,
        listing=listing if own else None,
    )


def _combined(row: list[int], classes: tuple[str, ...]) -> str:
    return "+".join(name for name, has in zip(classes, row, strict=True) if has) or "none"
