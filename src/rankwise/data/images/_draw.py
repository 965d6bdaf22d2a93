"""Test and validation images drawn at random, for data sets without a split of their own."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rankwise.data.errors import DataError
from rankwise.data.images._listing import Listing, Part, in_order

SPLITS = ("classes", "images")
TEST_SHARE = 0.2
_FEW = 2  # of a class, or classes of a part: with fewer there is nothing to find or to confuse
_NAMED = 5  # classes in one remark


@dataclass(frozen=True)
class Draw:
    """How images are drawn; shares are of the classes, or of the images of every class.

    ``test_share`` is of all of them (None: 0.2), ``validation_share`` of those that are not test.
    ``split`` None takes whole classes where there are enough of them, else images of every class.
    """

    test_share: float | None = None
    validation_share: float = 0.1
    split: str | None = None
    seed: int = 0
    validation: bool = True  # False: nothing is drawn to choose by


def draw_parts(listing: Listing, how: Draw) -> tuple[list[Part], list[str]]:
    """Return the part of every image, and remarks on how it came about.

    Images whose part the data set gives keep it. A class with a single image is trained on only.
    """
    wanted = _wanted(listing, how)
    if not wanted:
        return list(listing.parts), []
    rows: dict[str, list[int]] = {name: [] for name in in_order(listing.labels)}
    for i, (label, part) in enumerate(zip(listing.labels, listing.parts, strict=True)):
        if part == "train":
            rows[label].append(i)
    rows = {name: own for name, own in rows.items() if own}
    drawable = [name for name, own in rows.items() if len(own) >= _FEW]
    least = _FEW * (1 + len(wanted))
    enough = len(drawable) >= least
    if how.split == "classes" and not enough:
        raise DataError(
            f"{listing.name}: split by classes needs {least} classes with two images or more, "
            f"{_FEW} for each of train{''.join(f', {part}' for part in wanted)}; got "
            f"{len(drawable)}; set split to images, or leave it out"
        )
    remarks = []
    if how.split == "classes" or (how.split is None and enough):
        drawn = _classes(drawable, wanted, how)
        found = {i: part for name, part in drawn.items() for i in rows[name]}
        sizes = [f"{list(drawn.values()).count(part)} {part}" for part in wanted]
        remarks.append(
            f"division: of {len(rows)} classes {', '.join(sizes)} and {len(rows) - len(drawn)} "
            f"train, drawn by class at random (data.seed {how.seed})"
        )
    else:
        found = _images(listing.name, list(rows.values()), wanted, how)
        why = (
            f": {len(drawable)} classes with two images or more are too few to keep some of them "
            f"unseen ({least} are needed)"
            if how.split is None
            else ""
        )
        remarks.append(
            f"division: images of every class, drawn at random (data.seed {how.seed}){why}"
        )
    remarks += single_images(name for name, own in rows.items() if len(own) == 1)
    if "validation" in wanted and "validation" not in found.values():
        remarks.append(
            "no validation: the classes have too few images to set some aside; the network of the "
            "last step is kept"
        )
    return [found.get(i, part) for i, part in enumerate(listing.parts)], remarks


def single_images(names: Iterable[str]) -> list[str]:
    """Return the remark on classes with one image, if there are any."""
    alone = list(names)
    if not alone:
        return []
    shown = ", ".join(alone[:_NAMED]) + (", …" if len(alone) > _NAMED else "")
    what = "class has" if len(alone) == 1 else "classes have"
    return [f"{len(alone)} {what} a single image, which is trained on and never tested: {shown}"]


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


def _wanted(listing: Listing, how: Draw) -> list[Part]:
    """Return the parts that are to be drawn; raise for settings that would change nothing."""
    has_test, has_validation = ("test" in listing.parts), ("validation" in listing.parts)
    wanted: list[Part] = [] if has_test else ["test"]
    if how.validation and not has_validation:
        wanted.append("validation")
    if has_test and how.test_share is not None:
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


def _classes(drawable: list[str], wanted: list[Part], how: Draw) -> dict[str, Part]:
    drawn: dict[str, Part] = {}
    rest = drawable
    if "test" in wanted:
        share = TEST_SHARE if how.test_share is None else how.test_share
        asked = max(_FEW, math.ceil(round(share * len(drawable), 9)))
        count = min(asked, len(drawable) - _FEW * len(wanted))
        order = np.random.default_rng((how.seed, 1)).permutation(len(drawable))
        drawn = {drawable[i]: "test" for i in order[:count]}
        rest = [name for name in drawable if name not in drawn]
    if "validation" in wanted:
        share = min(how.validation_share, (len(rest) - _FEW) / len(rest))
        chosen = validation_classes(rest, {}, share, how.seed)
        drawn |= dict.fromkeys(chosen, "validation")
    return drawn


def _images(name: str, classes: list[list[int]], wanted: list[Part], how: Draw) -> dict[int, Part]:
    """Draw images of every class; a part has at least two images of a class, or none."""
    shares = {
        "test": TEST_SHARE if how.test_share is None else how.test_share,
        "validation": how.validation_share,
    }
    found: dict[int, Part] = {}
    seen: dict[Part, int] = dict.fromkeys(wanted, 0)  # classes of every part
    for number, own in enumerate(classes):
        left = np.random.default_rng((how.seed, number, 2)).permutation(own).tolist()
        for part in wanted:
            if len(left) < 2 * _FEW:
                break
            count = min(max(_FEW, math.floor(shares[part] * len(left) + 0.5)), len(left) - _FEW)
            found |= dict.fromkeys(left[:count], part)
            left = left[count:]
            seen[part] += 1
    if seen.get("test", _FEW) < _FEW:
        raise DataError(
            f"{name}: cannot be divided: by images, it needs two classes with four images or more "
            f"(two to train on, two to test on), got {seen['test']}; by classes, it needs "
            f"{_FEW * (1 + len(wanted))} classes with two images or more; add images"
        )
    if seen.get("validation", _FEW) < _FEW:  # one class cannot be confused with another
        found = {i: part for i, part in found.items() if part != "validation"}
    return found
