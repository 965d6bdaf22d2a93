"""Images of a classification data set, split 8:1:1 or as the data set says; long tails of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.data.images._listing import Listing, Part, in_order, record_of, single_images
from rankwise.data.images.image_file import BrokenImage, require_files, require_images
from rankwise.data.images.image_set import ClassSplits, ImageSet, LabeledImages


def long_tail_counts(largest: int, classes: int, imbalance: float) -> list[int]:
    """Return n_c = ⌊n · μ^{c/(C−1)}⌋ with μ = 1/``imbalance``, at least one (Cui et al. 2019)."""
    if not (math.isfinite(imbalance) and imbalance >= 1):
        raise ValueError(f"imbalance must be a number >= 1, got {imbalance!r}")
    last = max(1, classes - 1)
    # A hair upwards: 100 · 100^{-1/2} is 10 and not 9.
    return [max(1, math.floor(largest * imbalance ** (-c / last) + 1e-9)) for c in range(classes)]


def long_tail_rows(labels: Tensor, classes: int, imbalance: float, seed: int) -> Tensor:
    """Return the rows of a long-tailed set: class 0 stays whole, the last one has n/imbalance.

    n is the size of the largest class; a class that has fewer images than its share keeps them
    all. Which ones are kept follows from the seed and the class alone.
    """
    sizes = torch.bincount(labels, minlength=classes).tolist()
    wanted = long_tail_counts(max(sizes, default=0), classes, imbalance)
    kept = [np.zeros(0, np.int64)]
    for number, most in enumerate(wanted):
        rows = (labels == number).nonzero().flatten().numpy()
        kept.append(np.random.default_rng((seed, number)).permutation(rows)[:most])
    return torch.from_numpy(np.sort(np.concatenate(kept)))


def rare_positive_rows(target: Tensor, share: float, seed: int) -> Tensor:
    """Return all negatives, and positives drawn by ``seed`` that make ``share`` of the whole."""
    if not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1, got {share!r}")
    positives = (target == 1).nonzero().flatten().numpy()
    negatives = (target == 0).nonzero().flatten().numpy()
    wanted = round(share / (1 - share) * len(negatives))
    if not 1 <= wanted <= len(positives):
        raise DataError(
            f"{wanted} positives beside {len(negatives)} negatives make a share of {share:g}, and "
            f"there are {len(positives)}"
        )
    drawn = np.random.default_rng(seed).permutation(positives)[:wanted]
    return torch.from_numpy(np.sort(np.concatenate([negatives, drawn])).astype(np.int64))


def as_binary(
    name: str, labels: Tensor, classes: tuple[str, ...], positive: tuple[str, ...]
) -> tuple[Tensor, tuple[str, str]]:
    """Return targets of some classes (1) against the rest (0), and the names of the two."""
    if unknown := [each for each in positive if each not in classes]:
        raise DataError(
            f"{name}: there is no class {', '.join(unknown)}; the classes are {', '.join(classes)}"
        )
    if not 0 < len(set(positive)) < len(classes):
        raise DataError(f"{name}: positive must be some of the classes, and not all of them")
    ids = torch.tensor([classes.index(each) for each in positive])
    return torch.isin(labels, ids).long(), ("rest", "+".join(positive))


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
            kinds = [list(compress(self.classes, row)) for row in found.tolist()]
            names = tuple("+".join(kind) or "none" for kind in kinds)
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
            f"{listing.name}: no class of its test images is trained on, which is a split for "
            "retrieval; give images of every class in train and in test, or without parts"
        )
    given = given or (own and "validation" in listing.parts)
    parts = listing.parts if given else None
    images = ClassListing(listing.name, target, tuple(ids), parts, listing.paths, listing.pixels)
    return replace(images, broken=listing.broken, listing=listing if own else None)


TEST_SHARE = 0.1

Rows = dict[Part, Tensor]


class ClassDraw(NamedTuple):
    """How images are drawn, and which of them are kept; see ``open_classes``."""

    imbalance: float | None = None
    tail_in: str = "all"
    positive: tuple[str, ...] = ()
    positive_share: float | None = None
    validation_share: float = 0.1
    test_share: float | None = None
    seed: int = 0


def divide_classes(listed: ClassListing, how: ClassDraw, *, skip_broken: bool) -> ClassSplits:
    """Split the images, long-tailed and binary on request."""
    broken = require_files(listed.name, listed.paths or (), listed.broken, skip_broken=skip_broken)
    whole = listed.images()
    if whole.multi_label and (how.imbalance is not None or how.positive):
        raise DataError(
            f"{listed.name}: has several labels by image; a long tail and positive classes are for "
            "sets with one class by image"
        )
    rows = torch.tensor([i for i in range(len(whole)) if i not in broken], dtype=torch.long)
    # A recorded split has the tail that was cut when it was made.
    final = listed.listing is not None and listed.listing.final
    tail, labels = None if final else how.imbalance, whole.target

    def tailed(rows: Tensor, part: str) -> Tensor:
        if tail is None or how.tail_in != part:
            return rows
        return rows[long_tail_rows(labels[rows], len(listed.classes), tail, how.seed)]

    parts, remarks = _parts(listed, tailed(rows, "all"), how)
    parts["train"] = tailed(parts["train"], "train")
    if how.positive:
        target, names = as_binary(listed.name, whole.target, whole.classes, how.positive)
        whole = replace(listed, target=target, classes=names).images()
    if how.positive_share is not None:
        if not whole.binary:
            raise DataError(f"{listed.name}: positive_share needs a positive class: name it")
        if not final:
            kept = rare_positive_rows(whole.target[parts["train"]], how.positive_share, how.seed)
            parts["train"] = parts["train"][kept]
    found = {part: whole.subset(rows, f"{listed.name} {part}") for part, rows in parts.items()}
    for part in ("train", "test"):
        require_images(found[part].name, found[part], broken.values())
    own, of_row = listed.listing, {i: part for part, at in parts.items() for i in at.tolist()}
    return ClassSplits(
        **found,
        dropped=tuple(broken.values()),
        remarks=(*(own.remarks if own else ()), *remarks),
        record=record_of(own, of_row) if own else (),
    )


def _parts(listed: ClassListing, rows: Tensor, how: ClassDraw) -> tuple[Rows, list[str]]:
    """Return the rows of every part, in order, and remarks on the split of user images."""
    test = TEST_SHARE if how.test_share is None else how.test_share
    labels = listed.images().images.labels  # a combination of labels is a kind of its own
    own = listed.listing
    drawn = f"drawn at random in every class (data.seed {how.seed})"
    draw = partial(_drawn, labels=labels, seed=how.seed, least=0 if own is None else 1)
    remarks: list[str] = []
    if listed.parts is None:
        if own is not None:
            remarks.append(
                f"split: {test:.0%} test and {how.validation_share:.0%} validation, at least "
                f"one image each, {drawn}"
            )
            counts = labels[rows].bincount(minlength=len(listed.classes)).tolist()
            remarks += single_images(listed.classes[i] for i, n in enumerate(counts) if n == 1)
        return draw(rows, how.validation_share, test), remarks
    final = own is not None and own.final
    if "test" in listed.parts and how.test_share is not None and not final:
        raise DataError(
            f"{listed.name}: has test images of its own, so that test_share {how.test_share} "
            "cannot be kept; leave it out, or give the images without parts"
        )
    of_part = [listed.parts[i] for i in rows.tolist()]
    given: Rows = {part: rows[torch.tensor([own == part for own in of_part], dtype=torch.bool)]
                   for part in get_args(Part)}  # fmt: skip
    if "test" not in listed.parts and not final:
        given |= {**draw(given["train"], 0.0, test), "validation": given["validation"]}
        remarks.append(f"test: {test:.0%} of the images in train, {drawn}")
    if final or len(given["validation"]) or how.validation_share == 0:
        return given, remarks
    share = how.validation_share / (1 - test)
    if listed.groups is not None:
        train, groups = given["train"], listed.groups
        names = sorted({groups[i] for i in train.tolist()})
        drawn_at = np.random.default_rng(how.seed).permutation(len(names))
        held = {names[i] for i in drawn_at[: round(share * len(names))]}
        inside = torch.tensor([groups[i] in held for i in train.tolist()], dtype=torch.bool)
        return {**given, "train": train[~inside], "validation": train[inside]}, remarks
    if own is not None:
        remarks.append(f"validation: {share:.0%} of the images in train, {drawn}")
    return {**draw(given["train"], share, 0.0), "test": given["test"]}, remarks


def _drawn(
    rows: Tensor, validation: float, test: float, *, labels: Tensor, seed: int, least: int
) -> Rows:
    """Draw the parts, every class in the same shares; two or more images leave one to train on.

    ``least`` images of a class are in every part with a share, as long as there are any left.
    """
    found: dict[Part, list[int]] = {"test": [], "validation": [], "train": []}

    def count(images: int, left: int, share: float) -> int:
        wanted = math.floor(images * share + 0.5)
        return min(left, max(wanted, least if share else 0))

    for key in labels[rows].unique().tolist():
        own = rows[labels[rows] == key].numpy()
        own = np.random.default_rng((seed, key, 1)).permutation(own)
        n_test = count(len(own), len(own) - 1, test)
        n_both = n_test + count(len(own), len(own) - 1 - n_test, validation)
        for part, drawn in zip(found, np.split(own, [n_test, n_both]), strict=True):
            found[part] += drawn.tolist()
    return {name: torch.tensor(sorted(part), dtype=torch.long) for name, part in found.items()}
