"""The rest of the classes, 9:1, into those to train on and those to choose by."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from rankwise.data.errors import DataError
from rankwise.data.images.base import ImageSet, RetrievalSplits
from rankwise.data.images.listing import Listing, in_order
from rankwise.data.images.pictures import BrokenImage, damage, read_picture, tell_broken

__all__ = ["absent", "divide", "validation_classes", "validation_count"]


def validation_count(classes: int, share: float) -> int:
    """⌈share · classes⌉, which for 13 164 vehicles and a tenth is the paper's 1 317.

    One class at least stays to train on.
    """
    return min(math.ceil(round(share * classes, 9)), classes - 1)


def validation_classes(
    classes: Iterable[str], families: Mapping[str, str], share: float, seed: int
) -> frozenset[str]:
    """The classes to choose by: ⌈share⌉ of every super-class, drawn by ``seed``.

    Fewer than two cannot be told from one another, so there are two at least. The draw does not
    depend on the order of ``classes``.
    """
    of_family: dict[str, list[str]] = defaultdict(list)
    for name in in_order(classes):
        of_family[families.get(name, "")].append(name)
    known = sum(len(names) for names in of_family.values())
    if known < 4:
        raise DataError(
            f"{known} classes are too few to set some aside for validation: 4 are needed, 2 to "
            "train on and 2 to choose by; train on all of them instead (trainval)"
        )
    rng = np.random.default_rng(seed)
    drawn: list[str] = []
    others: list[str] = []
    for family in in_order(of_family):
        names = of_family[family]
        shuffled = [names[i] for i in rng.permutation(len(names))]
        count = validation_count(len(names), share)
        drawn += shuffled[:count]
        others += shuffled[count:]
    lacking = max(0, 2 - len(drawn))
    return frozenset(drawn + others[:lacking])


def divide(
    listing: Listing,
    *,
    trainval: bool,
    seed: int,
    validation_share: float,
    skip_broken: bool,
) -> RetrievalSplits:
    """The three parts; missing files end it, or are left out after the classes were drawn."""
    broken = {**listing.broken, **absent(listing.paths)}
    if broken and not skip_broken:
        raise DataError(f"{listing.name}: {tell_broken(broken.values())}")
    parts = _parts(listing, trainval, seed, validation_share)
    if skip_broken and listing.paths is not None:
        # In training another image stands in for one that cannot be read; here none can.
        judged_by = [i for i, part in enumerate(parts) if part != "train" and i not in broken]
        broken |= _unreadable(listing.paths, judged_by)
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
        if not len(images):
            why = f"; {tell_broken(broken.values())}" if broken else ""
            raise DataError(f"{images.name}: there are no images{why}")
    galleries = None
    if listing.lists:
        row = {i: number for number, i in enumerate(i for i in kept if parts[i] == "test")}
        galleries = {name: _gallery(test, name, wanted, row)
                     for name, wanted in listing.lists.items()}  # fmt: skip
    return RetrievalSplits(train, validation, test, galleries, tuple(broken.values()))


def _parts(listing: Listing, trainval: bool, seed: int, share: float) -> list[str]:
    if trainval:
        return ["test" if part == "test" else "train" for part in listing.parts]
    if "validation" in listing.parts:  # the data set says itself what to choose by
        return list(listing.parts)
    pairs = list(zip(listing.labels, listing.parts, strict=True))
    try:
        chosen = validation_classes(
            {label for label, part in pairs if part == "train"}, listing.families, share, seed
        )
    except DataError as error:
        raise DataError(f"{listing.name}: {error}") from None
    return ["validation" if part == "train" and label in chosen else part for label, part in pairs]


def _gallery(
    test: ImageSet, name: str, wanted: Sequence[int], row: Mapping[int, int]
) -> tuple[ImageSet, ImageSet]:
    found = test.subset([row[i] for i in wanted if i in row])
    images = replace(found, name=f"{test.name} {name}")
    return images, images


def _unreadable(paths: Sequence[Path], rows: Iterable[int]) -> dict[int, BrokenImage]:
    found = {}
    for i in rows:
        try:
            read_picture(paths[i])
        except BrokenImage as broken:
            found[i] = broken
    return found


def absent(paths: Sequence[Path] | None) -> dict[int, BrokenImage]:
    """The rows whose files are not there, are empty or are no pictures."""
    looked_at = ((i, damage(path)) for i, path in enumerate(paths or ()))
    return {i: broken for i, broken in looked_at if broken is not None}
