"""Split of a retrieval data set into training, validation and test images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from rankwise.data.errors import DataError
from rankwise.data.images._draw import Draw, draw_parts, validation_classes
from rankwise.data.images._listing import Listing, Part, record_of
from rankwise.data.images.image_file import require_files, require_images, unreadable
from rankwise.data.images.image_set import ImageSet, RetrievalSplits


def divide(listing: Listing, how: Draw, *, skip_broken: bool) -> RetrievalSplits:
    """Split the images; missing files raise, or are left out after the parts were drawn."""
    files = listing.paths or ()
    broken = require_files(listing.name, files, listing.broken, skip_broken=skip_broken)
    parts, remarks = _parts(listing, how)
    if skip_broken and listing.paths is not None:
        # In training another image stands in for one that cannot be read; here none can.
        evaluated = [i for i, part in enumerate(parts) if part != "train" and i not in broken]
        broken |= unreadable(listing.paths, evaluated)
    kept = [i for i in range(len(listing.labels)) if i not in broken]
    ids = {name: number for number, name in enumerate(dict.fromkeys(listing.labels))}
    whole = ImageSet(
        listing.name,
        torch.tensor([ids[name] for name in listing.labels], dtype=torch.long),
        tuple(ids),
        None if listing.paths is None else tuple(listing.paths),
        listing.pixels,
    )

    def part(name: str) -> ImageSet:
        found = whole.subset([i for i in kept if parts[i] == name], renumber=True)
        return replace(found, name=f"{listing.name} {name}")

    train, validation, test = part("train"), part("validation"), part("test")
    for images in (train, test):
        require_images(images.name, images, broken.values())
    galleries = None
    if listing.lists:
        row = {i: number for number, i in enumerate(i for i in kept if parts[i] == "test")}
        galleries = {name: _gallery(test, name, wanted, row)
                     for name, wanted in listing.lists.items()}  # fmt: skip
    return RetrievalSplits(
        train,
        validation,
        test,
        galleries,
        tuple(broken.values()),
        remarks=(*listing.remarks, *remarks),
        record=record_of(listing, parts, kept),
    )


def _parts(listing: Listing, how: Draw) -> tuple[list[Part], list[str]]:
    """Return the part of every image, and remarks on it."""
    if listing.final:
        return list(listing.parts), []
    if not how.validation:
        joined: list[Part] = ["test" if part == "test" else "train" for part in listing.parts]
        listing = replace(listing, parts=joined)
    if listing.base is not None:
        return draw_parts(listing, how)
    if how.test_share is not None or how.split is not None:
        raise DataError(
            f"{listing.name}: the test classes are those of the published protocol; test_share "
            f"({how.test_share}) and split ({how.split}) are for folder and csv: leave them out"
        )
    if not how.validation or "validation" in listing.parts:
        return list(listing.parts), []
    pairs = list(zip(listing.labels, listing.parts, strict=True))
    try:
        chosen = validation_classes(
            {label for label, part in pairs if part == "train"},
            listing.families,
            how.validation_share,
            how.seed,
        )
    except DataError as error:
        raise DataError(f"{listing.name}: {error}") from None
    return [
        "validation" if part == "train" and label in chosen else part for label, part in pairs
    ], []


def _gallery(
    test: ImageSet, name: str, wanted: Sequence[int], row: Mapping[int, int]
) -> tuple[ImageSet, ImageSet]:
    found = test.subset([row[i] for i in wanted if i in row])
    images = replace(found, name=f"{test.name} {name}")
    return images, images
