"""Split of a retrieval data set into training, validation and test images."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

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
    kept = {i: part for i, part in enumerate(parts) if i not in broken}
    ids = {name: number for number, name in enumerate(dict.fromkeys(listing.labels))}
    whole = ImageSet(
        listing.name,
        torch.tensor([ids[name] for name in listing.labels], dtype=torch.long),
        tuple(ids),
        None if listing.paths is None else tuple(listing.paths),
        listing.pixels,
    )
    rows = {name: [i for i, part in kept.items() if part == name] for name in get_args(Part)}
    found = {name: replace(whole.subset(own, renumber=True), name=f"{listing.name} {name}")
             for name, own in rows.items()}  # fmt: skip
    for name in ("train", "test"):
        require_images(found[name].name, found[name], broken.values())
    galleries = {}
    row = {i: number for number, i in enumerate(rows["test"])}
    for name, wanted in listing.lists.items():
        images = found["test"].subset([row[i] for i in wanted if i in row])
        images = replace(images, name=f"{images.name} {name}")
        galleries[name] = (images, images)
    return RetrievalSplits(
        **found,
        galleries=galleries or None,
        dropped=tuple(broken.values()),
        remarks=(*listing.remarks, *remarks),
        record=record_of(listing, kept),
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
