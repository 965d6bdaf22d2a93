"""Split of a retrieval data set into training, validation and test images, drawn at random.

Published data sets have test classes of their own; of a user's images both parts are drawn.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, get_args

import numpy as np
import torch

from rankwise.data.errors import DataError
from rankwise.data.images._listing import Listing, Part, in_order, record_of, single_images
from rankwise.data.images.image_file import require_files, require_images, unreadable
from rankwise.data.images.image_set import ImageSet, RetrievalSplits

SPLITS = ("classes", "images")
TEST_SHARE = 0.2
_FEW = 2  # of a class, or classes of a part: with fewer there is nothing to find or to confuse


class Draw(NamedTuple):
    """How images are drawn; shares are of the classes, or of the images of every class.

    ``test_share`` is of all of them (None: 0.2), ``validation_share`` of those that are not test.
    ``split`` None takes whole classes where there are enough of them, else images of every class.
    """

    test_share: float | None = None
    validation_share: float = 0.1
    split: str | None = None
    seed: int = 0
    validation: bool = True  # False: nothing is drawn to choose by

    @property
    def shares(self) -> dict[Part, float]:
        """The shares of the parts that are drawn."""
        test = TEST_SHARE if self.test_share is None else self.test_share
        return {"test": test, "validation": self.validation_share}


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
    labels = torch.tensor([ids[name] for name in listing.labels], dtype=torch.long)
    paths = None if listing.paths is None else tuple(listing.paths)
    families = _families(listing, tuple(ids))
    whole = ImageSet(listing.name, labels, tuple(ids), paths, listing.pixels, families)
    rows = {name: [i for i, part in kept.items() if part == name] for name in get_args(Part)}
    found = {name: whole.subset(own, f"{listing.name} {name}", renumber=True)
             for name, own in rows.items()}  # fmt: skip
    for name in ("train", "test"):
        require_images(found[name].name, found[name], broken.values())
    galleries = {}
    row = {i: number for number, i in enumerate(rows["test"])}
    for name, wanted in listing.lists.items():
        chosen = [row[i] for i in wanted if i in row]
        images = found["test"].subset(chosen, f"{listing.name} test {name}")
        galleries[name] = (images, images)
    return RetrievalSplits(
        **found,
        galleries=galleries or None,
        dropped=tuple(broken.values()),
        remarks=(*listing.remarks, *remarks),
        record=record_of(listing, kept),
    )


def _families(listing: Listing, classes: Sequence[str]) -> tuple[str, ...] | None:
    """Return the super-class of every class, where all have one and there are several."""
    known = listing.super_classes or listing.families
    found = tuple(known[name] for name in classes if name in known)
    return found if len(found) == len(classes) and len(set(found)) > 1 else None


def _parts(listing: Listing, how: Draw) -> tuple[list[Part], list[str]]:
    """Return the part of every image, and remarks on how it came about.

    Images whose part the data set gives keep it. A class with a single image is trained on only.
    """
    parts = list(listing.parts)
    if listing.final:
        return parts, []
    if not how.validation:
        parts = ["test" if part == "test" else "train" for part in parts]
    wanted = _wanted(listing, parts, how)
    if not wanted:
        return parts, []
    of_class: dict[str, list[int]] = defaultdict(list)
    for i, (label, part) in enumerate(zip(listing.labels, parts, strict=True)):
        if part == "train":
            of_class[label].append(i)
    rows = {name: of_class[name] for name in in_order(of_class)}
    if listing.base is None:
        if len(rows) < 2 * _FEW:
            raise DataError(
                f"{listing.name}: {len(rows)} classes are too few to set some aside for "
                "validation: 4 are needed, 2 to train on and 2 to choose by; train on all of them "
                "instead (trainval)"
            )
        chosen = validation_classes(rows, listing.families, how.validation_share, how.seed)
        found: dict[int, Part] = {i: "validation" for name in chosen for i in rows[name]}
        return [found.get(i, part) for i, part in enumerate(parts)], []
    remarks = []
    drawable = [name for name, own in rows.items() if len(own) >= _FEW]
    least = _FEW * (1 + len(wanted))
    enough = len(drawable) >= least
    if how.split == "classes" and not enough:
        raise DataError(
            f"{listing.name}: split by classes needs {least} classes with two images or more, "
            f"{_FEW} for each of train{''.join(f', {part}' for part in wanted)}; got "
            f"{len(drawable)}; set split to images, or leave it out"
        )
    if how.split == "classes" or (how.split is None and enough):
        drawn = _classes(drawable, wanted, how)
        found = {i: part for name, part in drawn.items() for i in rows[name]}
        sizes = [f"{list(drawn.values()).count(part)} {part}" for part in wanted]
        remarks.append(
            f"split: of {len(rows)} classes {', '.join(sizes)} and {len(rows) - len(drawn)} "
            f"train, drawn by class at random (data.seed {how.seed})"
        )
    else:
        found = _images(listing.name, list(rows.values()), wanted, how)
        why = (f": {len(drawable)} classes with two images or more are too few to keep some of "
               f"them unseen ({least} are needed)")  # fmt: skip
        remarks.append(
            f"split: images of every class, drawn at random (data.seed {how.seed})"
            + (why if how.split is None else "")
        )
    remarks += single_images(name for name, own in rows.items() if len(own) == 1)
    if "validation" in wanted and "validation" not in found.values():
        remarks.append(
            "no validation: the classes have too few images to set some aside; the network of the "
            "last step is kept"
        )
    return [found.get(i, part) for i, part in enumerate(parts)], remarks


def _wanted(listing: Listing, parts: list[Part], how: Draw) -> list[Part]:
    """Return the parts that are to be drawn; raise for settings that would change nothing."""
    published = listing.base is None
    wanted: list[Part] = [] if published or "test" in parts else ["test"]
    if how.validation and "validation" not in parts:
        wanted.append("validation")
    if published and (how.test_share is not None or how.split is not None):
        raise DataError(
            f"{listing.name}: the test classes are those of the published protocol; test_share "
            f"({how.test_share}) and split ({how.split}) are for folder and csv: leave them out"
        )
    if "test" in parts and how.test_share is not None:
        raise DataError(
            f"{listing.name}: has test images of its own, so that test_share {how.test_share} "
            "cannot be kept; leave it out, or give the images without parts"
        )
    if not wanted and how.split is not None:
        raise DataError(
            f"{listing.name}: has parts of its own, so that there is nothing to split by "
            f"{how.split}; leave split out"
        )
    return wanted


def validation_count(classes: int, share: float) -> int:
    """Return ⌈share · classes⌉, which for 13 164 vehicles and a tenth is the paper's 1 317.

    One class at least stays to train on.
    """
    return min(math.ceil(round(share * classes, 9)), classes - 1)


def validation_classes(
    classes: Iterable[str], families: Mapping[str, str], share: float, seed: int
) -> frozenset[str]:
    """Draw the validation classes: ⌈share⌉ of every super-class, by ``seed``.

    There are at least two, as retrieval needs classes to confuse. The draw does not
    depend on the order of ``classes``.
    """
    ordered = in_order(classes)
    rng = np.random.default_rng(seed)
    drawn: list[str] = []
    others: list[str] = []
    for family in in_order(families.get(name, "") for name in ordered):
        names = [name for name in ordered if families.get(name, "") == family]
        shuffled = [names[i] for i in rng.permutation(len(names))]
        count = validation_count(len(names), share)
        drawn += shuffled[:count]
        others += shuffled[count:]
    return frozenset(drawn + others[: max(0, 2 - len(drawn))])


def _classes(drawable: list[str], wanted: list[Part], how: Draw) -> dict[str, Part]:
    drawn: dict[str, Part] = {}
    if "test" in wanted:
        asked = max(_FEW, math.ceil(round(how.shares["test"] * len(drawable), 9)))
        count = min(asked, len(drawable) - _FEW * len(wanted))
        order = np.random.default_rng((how.seed, 1)).permutation(len(drawable))
        drawn = {drawable[i]: "test" for i in order[:count]}
    if "validation" in wanted:
        rest = [name for name in drawable if name not in drawn]
        share = min(how.validation_share, (len(rest) - _FEW) / len(rest))
        chosen = validation_classes(rest, {}, share, how.seed)
        drawn |= dict.fromkeys(chosen, "validation")
    return drawn


def _images(name: str, classes: list[list[int]], wanted: list[Part], how: Draw) -> dict[int, Part]:
    """Draw images of every class; a part has at least two images of a class, or none."""
    found: dict[int, Part] = {}
    seen: dict[Part, int] = dict.fromkeys(wanted, 0)  # classes of every part
    for number, own in enumerate(classes):
        left = np.random.default_rng((how.seed, number, 2)).permutation(own).tolist()
        for part in wanted:
            if len(left) < 2 * _FEW:
                break
            count = min(max(_FEW, math.floor(how.shares[part] * len(left) + 0.5)), len(left) - _FEW)
            found |= dict.fromkeys(left[:count], part)
            left = left[count:]
            seen[part] += 1
    if seen.get("test", _FEW) < _FEW:
        raise DataError(
            f"{name}: cannot be split into training and test parts: by images, it needs "
            "two classes with four images or more (two to train on, two to test on), "
            f"got {seen['test']}; by classes, it needs "
            f"{_FEW * (1 + len(wanted))} classes with two images or more; add images"
        )
    if seen.get("validation", _FEW) < _FEW:  # one class cannot be confused with another
        found = {i: part for i, part in found.items() if part != "validation"}
    return found
