"""Images as a data set lists them: where each is, and its class by name; not yet divided."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from torch import Tensor

from rankwise.data.images.image_file import BrokenImage

__all__ = ["Listing", "Part", "Recorded", "by_halves", "in_order"]

Part = Literal["train", "validation", "test"]


class Recorded(NamedTuple):
    """The part that an image was put into; ``path`` is relative to the folder of the data."""

    path: str
    label: str
    part: Part


@dataclass(frozen=True, eq=False)
class Listing:
    """Images as a reader found them; ``"train"`` is everything that is not yet divided.

    Where no image is ``"test"``, the data set leaves the division to the settings.
    """

    name: str
    labels: Sequence[str]  # the class of every image
    parts: Sequence[Part]  # of every image
    paths: Sequence[Path] | None = None
    pixels: Tensor | None = None
    families: Mapping[str, str] = field(default_factory=dict)  # the super-class of a class
    lists: Mapping[str, Sequence[int]] = field(default_factory=dict)  # test images by gallery
    broken: Mapping[int, BrokenImage] = field(default_factory=dict)  # images found so on reading
    base: Path | None = None  # what recorded paths are relative to; None: nothing is recorded
    remarks: Sequence[str] = ()  # for the user: what was passed over, and where parts come from
    final: bool = False  # the division is a recorded one: nothing is left to draw


def by_halves(labels: Iterable[str], order: Sequence[str]) -> list[Part]:
    """The usual protocol of sets without test classes: the first half trains, the second tests."""
    first = frozenset(order[: len(order) // 2])
    return ["train" if label in first else "test" for label in labels]


def in_order(names: Iterable[str]) -> list[str]:
    """Every name once, sorted, with the numbers in them by value: ``c9`` before ``c10``."""
    return sorted(set(names), key=_natural)


def _natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    pieces = re.findall(r"\d+|\D+", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in pieces], name
