"""Images of a classification data set, split 8:1:1 or as the data set says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.data.images._draw import single_images
from rankwise.data.images._listing import Listing, Part, Recorded, in_order, record_of
from rankwise.data.images.image_file import BrokenImage, require_files, require_images
from rankwise.data.images.image_set import ClassSplits, ImageSet, LabeledImages
from rankwise.data.images.long_tail import as_binary, long_tail_rows, rare_positive_rows


@dataclass(frozen=True, eq=False)
class ClassListing:
    """Images of a classification data set before they are split.

    Args:
        name: Name of the data set.
        target: Class ids, long (n,), or 0 and 1 for every label, long (n, classes).
        classes: Names of the classes.
        parts: ``"train"``, ``"validation"`` or ``"test"`` of every image, where the data set is
            split already.
        paths: Files of the images.
        pixels: Images, uint8 (n, channels, h, w); either these or paths.
        groups: Group of every image (a patient); validation takes whole groups.
        broken: Errors of images that were found on reading, by row.
        listing: The images of a user, whose split a run records.

    Example:
        >>> import torch
        >>> from rankwise.data.images import ClassListing
        >>> pixels, target = torch.zeros(2, 3, 8, 8, dtype=torch.uint8), torch.tensor([0, 1])
        >>> images = ClassListing("pets", target, ("cat", "dog"), pixels=pixels).images()
        >>> images.describe()
        'pets: 2 images of 2 classes: cat 1, dog 1'
    """

    name: str
    target: Tensor
    classes: tuple[str, ...]
    parts: Sequence[Part] | None = None
    paths: Sequence[Path] | None = None
    pixels: Tensor | None = None
    groups: Sequence[str] | None = None
    broken: Mapping[int, BrokenImage] = field(default_factory=dict)
    listing: Listing | None = None

    def images(self) -> LabeledImages:
        """Return all images as one set."""
        labels, names = self.target, self.classes
        if self.target.ndim == 2:
            found, labels = torch.unique(self.target, dim=0, return_inverse=True)
            names = tuple(_combined(row, self.classes) for row in found.tolist())
        paths = None if self.paths is None else tuple(self.paths)
        images = ImageSet(self.name, labels, names, paths, self.pixels)
        return LabeledImages(images, self.target, self.classes)


def as_class_listing(listing: Listing, order: Sequence[str] | None = None) -> ClassListing:
    """Return the images of a retrieval reader for classification; ``order`` is that of the classes.

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
    return ClassListing(
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


TEST_SHARE = 0.1

Shares = tuple[float, float, float]
Rows = dict[Part, Tensor]


def divide_classes(
    listed: ClassListing,
    *,
    imbalance: float | None = None,
    tail_in: str = "all",
    positive: tuple[str, ...] = (),
    positive_share: float | None = None,
    validation_share: float = 0.1,
    test_share: float | None = None,
    seed: int = 0,
    skip_broken: bool = False,
) -> ClassSplits:
    """Split the images, long-tailed and binary on request; see ``open_classes``."""
    files = listed.paths or ()
    broken = require_files(listed.name, files, listed.broken, skip_broken=skip_broken)
    whole = listed.images()
    if whole.multi_label and (imbalance is not None or positive):
        raise DataError(
            f"{listed.name}: has several labels by image; a long tail and positive classes are for "
            "sets with one class by image"
        )
    rows = torch.tensor([i for i in range(len(whole)) if i not in broken], dtype=torch.long)
    # A recorded division has the tail that was cut when it was made.
    final = listed.listing is not None and listed.listing.final
    tail = None if final else imbalance
    if tail is not None and tail_in == "all":
        rows = rows[long_tail_rows(whole.target[rows], len(whole.classes), tail, seed)]
    parts, remarks = _parts(listed, rows, validation_share, test_share, seed)
    if tail is not None and tail_in == "train":
        train = parts["train"]
        kept = long_tail_rows(whole.target[train], len(whole.classes), tail, seed)
        parts["train"] = train[kept]
    whole = _binary(listed, whole, positive)
    if positive_share is not None:
        if not whole.binary:
            raise DataError(f"{listed.name}: positive_share needs a positive class: name it")
        if not final:
            kept = rare_positive_rows(whole.target[parts["train"]], positive_share, seed)
            parts["train"] = parts["train"][kept]
    found = {part: whole.subset(rows, f"{listed.name} {part}") for part, rows in parts.items()}
    for part in ("train", "test"):
        require_images(found[part].name, found[part], broken.values())
    said = () if listed.listing is None else listed.listing.remarks
    return ClassSplits(
        **found,
        dropped=tuple(broken.values()),
        remarks=(*said, *remarks),
        record=_record(listed, parts),
    )


def _record(listed: ClassListing, parts: Rows) -> tuple[Recorded, ...]:
    if listed.listing is None:
        return ()
    of_row = {i: part for part, rows in parts.items() for i in rows.tolist()}
    everywhere = [of_row.get(i, "train") for i in range(len(listed.listing.labels))]
    return record_of(listed.listing, everywhere, sorted(of_row))


def _binary(listed: ClassListing, whole: LabeledImages, positive: tuple[str, ...]) -> LabeledImages:
    if not positive:
        return whole
    try:
        target, names = as_binary(whole.target, whole.classes, positive)
    except DataError as error:
        raise DataError(f"{listed.name}: {error}") from None
    paths, pixels = listed.paths, listed.pixels
    return ClassListing(listed.name, target, names, paths=paths, pixels=pixels).images()


def _parts(
    listed: ClassListing, rows: Tensor, validation_share: float, test_share: float | None, seed: int
) -> tuple[Rows, list[str]]:
    """Return the rows of every part, in order, and remarks on the split of user images."""
    test = TEST_SHARE if test_share is None else test_share
    shares = (1 - validation_share - test, validation_share, test)
    labels = listed.images().images.labels  # a combination of labels is a kind of its own
    least = 0 if listed.listing is None else 1
    drawn = f"drawn at random in every class (data.seed {seed})"
    remarks: list[str] = []
    if listed.parts is None:
        if listed.listing is not None:
            remarks = [
                f"division: {test:.0%} test and {validation_share:.0%} validation, at least one "
                f"image each, {drawn}"
            ]
            counts = labels[rows].bincount(minlength=len(listed.classes)).tolist()
            remarks += single_images(listed.classes[i] for i, n in enumerate(counts) if n == 1)
        return _drawn(rows, labels[rows], shares, seed, least), remarks
    final = listed.listing is not None and listed.listing.final
    if "test" in listed.parts and test_share is not None and not final:
        raise DataError(
            f"{listed.name}: has test images of its own, so that test_share {test_share} cannot be "
            "kept; leave it out, or give the images without parts"
        )
    names: tuple[Part, ...] = ("train", "validation", "test")
    given = {
        part: rows[torch.tensor([listed.parts[i] == part for i in rows.tolist()], dtype=torch.bool)]
        for part in names
    }
    if final:
        return given, []
    if "test" not in listed.parts:
        cut = _drawn(given["train"], labels[given["train"]], (1 - test, 0.0, test), seed, least)
        given["train"], given["test"] = cut["train"], cut["test"]
        remarks.append(f"test: {test:.0%} of the images in train, {drawn}")
    if len(given["validation"]) or shares[1] == 0:
        return given, remarks
    share = validation_share / (1 - test)
    if listed.groups is not None:
        given["train"], given["validation"] = _by_group(given["train"], listed.groups, share, seed)
        return given, remarks
    cut = _drawn(given["train"], labels[given["train"]], (1 - share, share, 0.0), seed, least)
    if listed.listing is not None:
        remarks.append(f"validation: {share:.0%} of the images in train, {drawn}")
    return {**cut, "test": given["test"]}, remarks


def _drawn(rows: Tensor, keys: Tensor, shares: Shares, seed: int, least: int = 0) -> Rows:
    """Draw the parts, every class in the same shares; two or more images leave one to train on.

    ``least`` images of a class are in every part with a share, as long as there are any left.
    """
    train: list[int] = []
    validation: list[int] = []
    test: list[int] = []

    def count(images: int, left: int, share: float) -> int:
        wanted = math.floor(images * share + 0.5)
        return min(left, max(wanted, least if share else 0))

    for key in keys.unique().tolist():
        own = np.random.default_rng((seed, key, 1)).permutation(rows[keys == key].numpy())
        n_test = count(len(own), len(own) - 1, shares[2])
        n_validation = count(len(own), len(own) - 1 - n_test, shares[1])
        test += own[:n_test].tolist()
        validation += own[n_test : n_test + n_validation].tolist()
        train += own[n_test + n_validation :].tolist()
    parts: dict[Part, list[int]] = {"train": train, "validation": validation, "test": test}
    return {name: torch.tensor(sorted(part), dtype=torch.long) for name, part in parts.items()}


def _by_group(
    rows: Tensor, groups: Sequence[str], share: float, seed: int
) -> tuple[Tensor, Tensor]:
    names = sorted({groups[i] for i in rows.tolist()})
    drawn = np.random.default_rng(seed).permutation(len(names))[: round(share * len(names))]
    held = {names[i] for i in drawn}
    inside = torch.tensor([groups[i] in held for i in rows.tolist()], dtype=torch.bool)
    return rows[~inside], rows[inside]
