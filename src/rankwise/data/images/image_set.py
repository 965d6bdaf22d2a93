"""Sets of images with labels, and their training, validation and test parts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.images._listing import Recorded
from rankwise.data.images.image_file import BrokenImage, image_size, read_image

_LOOKED_AT = 100  # files whose size a description gives; opening all of a large set takes minutes


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images with a class each: files that are read when asked for, or pixels held in memory."""

    name: str
    labels: Tensor  # long, (n,): class ids from 0
    classes: tuple[str, ...]  # the name of every class id
    paths: tuple[Path, ...] | None = None
    pixels: Tensor | None = None  # uint8, (n, channels, h, w), of 1 or 3 channels

    def __post_init__(self) -> None:
        if (self.paths is None) == (self.pixels is None):
            raise ValueError("an ImageSet has either paths or pixels, exactly one of them")
        if self.labels.dtype != torch.long or self.labels.ndim != 1:
            raise ValueError(
                f"labels must be a long tensor of shape (n,), got {self.labels.dtype} of shape "
                f"{tuple(self.labels.shape)}"
            )
        if self.pixels is not None:
            _require_pixels(self.pixels)
        held = len(self.paths) if self.paths is not None else len(_given(self.pixels))
        if held != len(self.labels):
            raise ValueError(f"there must be a label for each of {held} images, got {len(self)}")
        if len(self) and not (
            int(self.labels.min()) >= 0 and int(self.labels.max()) < len(self.classes)
        ):
            raise ValueError(
                f"labels must be class ids 0 to {len(self.classes) - 1}, "
                f"got {int(self.labels.min())} to {int(self.labels.max())}"
            )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def counts(self) -> Tensor:
        """How many images every class has: long, (classes,)."""
        return torch.bincount(self.labels, minlength=len(self.classes))

    def load(self, i: int) -> Tensor:
        """Image ``i`` in RGB: uint8, (3, h, w); :class:`BrokenImage` where it cannot be read."""
        if self.paths is not None:
            return read_image(self.paths[i])
        return _given(self.pixels)[i].expand(3, -1, -1).clone()  # the caller may write on it

    def subset(self, indices: Sequence[int] | Tensor, *, renumber: bool = False) -> ImageSet:
        """The images ``indices``, in that order.

        Class ids stay as they are; with ``renumber`` only the classes that occur are kept, and
        their ids run from 0 in the same order.
        """
        chosen = torch.as_tensor(indices, dtype=torch.long)
        labels, classes = self.labels[chosen], self.classes
        if renumber:
            kept, labels = torch.unique(labels, return_inverse=True)
            classes = tuple(self.classes[old] for old in kept.tolist())
        paths = None if self.paths is None else tuple(self.paths[i] for i in chosen.tolist())
        pixels = None if self.pixels is None else self.pixels[chosen]
        return ImageSet(self.name, labels, classes, paths, pixels)

    def describe(self) -> str:
        """One line: images, classes, images a class, and their size in pixels."""
        if not len(self):
            return f"{self.name}: no images"
        counts = self.counts[self.counts > 0]
        few, many = int(counts.min()), int(counts.max())
        return (
            f"{self.name}: {len(self)} images of {len(counts)} classes, "
            f"{few if few == many else f'{few} to {many}'} a class "
            f"(mean {len(self) / len(counts):.1f}), {self._sizes()}"
        )

    def _sizes(self) -> str:
        if self.pixels is not None:
            return f"{self.pixels.shape[-1]}×{self.pixels.shape[-2]} pixels"
        paths = self.paths or ()
        seen = paths[:: -(-len(paths) // _LOOKED_AT)]
        sizes = [size for path in seen if (size := _size(path)) is not None]
        if not sizes:
            return "of unknown size"
        smallest = "×".join(str(min(side)) for side in zip(*sizes, strict=True))
        largest = "×".join(str(max(side)) for side in zip(*sizes, strict=True))
        span = smallest if smallest == largest else f"{smallest} to {largest}"
        of = "" if len(seen) == len(paths) else f" ({len(seen)} files looked at)"
        return f"{span} pixels{of}"


@dataclass(frozen=True, eq=False)
class RetrievalSplits:
    """The parts of a data set; class ids run from 0 in each, so the same id is another class.

    No class is in two parts, unless a csv or a folder of the user's own has it so.
    ``validation`` is empty (length 0) when everything but the test images is to be trained on.
    ``galleries``, where a data set has several test lists, holds queries and gallery of each by
    name, with the class ids of ``test``; a list whose queries *are* its gallery (the same object)
    is judged leave-one-out, as is ``test`` where ``galleries`` is None.
    """

    train: ImageSet
    validation: ImageSet
    test: ImageSet
    galleries: dict[str, tuple[ImageSet, ImageSet]] | None = None
    dropped: tuple[BrokenImage, ...] = ()  # files that were left out by ``skip_broken``
    remarks: tuple[str, ...] = ()  # how the images were divided, and what was passed over
    record: tuple[Recorded, ...] = ()  # the part of every image, where a run has to keep it

    def describe(self) -> str:
        """One line for every remark and part, then one for every gallery."""
        lines = list(self.remarks)
        lines += [part.describe() for part in (self.train, self.validation, self.test)]
        for name, (queries, gallery) in (self.galleries or {}).items():
            asked = "" if queries is gallery else f", {len(queries)} queries"
            lines.append(f"gallery {name}: {gallery.describe()}{asked}")
        if seen := set(self.train.classes) & set(self.test.classes):
            lines.append(f"{len(seen)} of {len(self.test.classes)} test classes are trained on")
        if self.dropped:
            lines.append(f"left out: {len(self.dropped)} files that cannot be read")
        return "\n".join(lines)


def _size(path: Path) -> tuple[int, int] | None:
    """None of a damaged file: whoever reads it says so, or goes on without it."""
    try:
        return image_size(path)
    except BrokenImage:
        return None


def _given(pixels: Tensor | None) -> Tensor:
    assert pixels is not None  # __post_init__ saw to it
    return pixels


def _require_pixels(pixels: Tensor) -> None:
    if pixels.dtype != torch.uint8 or pixels.ndim != 4 or pixels.shape[1] not in (1, 3):
        raise ValueError(
            f"pixels must be a uint8 tensor of shape (n, 1 or 3, h, w), got {pixels.dtype} of "
            f"shape {tuple(pixels.shape)}"
        )


_NAMED = 6  # classes whose sizes a description gives


@dataclass(frozen=True, eq=False)
class LabeledImages:
    """Images and what they show: ``target`` is a class id each, or 0 and 1 for every class.

    The ``labels`` of ``images`` are the classes themselves, or with several labels by image a
    number for every combination of them that occurs: images of one number can stand for each other.
    """

    images: ImageSet
    target: Tensor  # long, (n,), or (n, classes) of 0 and 1
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        several = self.target.ndim == 2
        shape = (len(self.images), len(self.classes)) if several else (len(self.images),)
        if self.target.dtype != torch.long or tuple(self.target.shape) != shape:
            raise ValueError(
                f"target must be long, of shape ({len(self.images)},) or "
                f"({len(self.images)}, {len(self.classes)}), got {self.target.dtype} of shape "
                f"{tuple(self.target.shape)}"
            )
        highest = 1 if several else len(self.classes) - 1
        low, high = (int(v) for v in self.target.aminmax()) if len(self.images) else (0, 0)
        if low < 0 or high > highest:
            raise ValueError(f"target must be from 0 to {highest}, got {low} to {high}")

    def __len__(self) -> int:
        return len(self.images)

    @property
    def name(self) -> str:
        """The name of the images."""
        return self.images.name

    @property
    def multi_label(self) -> bool:
        """Whether an image can be of several classes, or of none."""
        return self.target.ndim == 2

    @property
    def binary(self) -> bool:
        """Whether there are two classes, the second of which is the positive one."""
        return not self.multi_label and len(self.classes) == 2

    @property
    def hot(self) -> Tensor:
        """0 and 1 for every image and class, (n, classes), whatever the target is."""
        if self.multi_label:
            return self.target
        return torch.nn.functional.one_hot(self.target, len(self.classes))

    @property
    def counts(self) -> Tensor:
        """How many images every class has."""
        return self.hot.sum(0)

    def subset(self, rows: Sequence[int] | Tensor, name: str | None = None) -> LabeledImages:
        """The images ``rows``, in that order, of the same classes."""
        chosen = torch.as_tensor(rows, dtype=torch.long)
        images = self.images.subset(chosen)
        images = images if name is None else replace(images, name=name)
        return LabeledImages(images, self.target[chosen], self.classes)

    def describe(self) -> str:
        """One line: how many images, and how many of every class."""
        pairs = list(zip(self.classes, self.counts.tolist(), strict=True))
        shown = ", ".join(f"{name} {count}" for name, count in pairs[:_NAMED])
        more = f", … {pairs[-1][0]} {pairs[-1][1]}" if len(pairs) > _NAMED else ""
        kind = "labels" if self.multi_label else "classes"
        return f"{self.name}: {len(self)} images of {len(pairs)} {kind}: {shown}{more}"


@dataclass(frozen=True, eq=False)
class ClassSplits:
    """The parts of a data set; a class has the same number in each."""

    train: LabeledImages
    validation: LabeledImages
    test: LabeledImages
    dropped: tuple[BrokenImage, ...] = ()  # files that were left out by ``skip_broken``
    remarks: tuple[str, ...] = ()  # how the images were divided, and what was passed over
    record: tuple[Recorded, ...] = ()  # the part of every image, where a run has to keep it

    def describe(self) -> str:
        """One line for every remark, then one for every part."""
        lines = list(self.remarks)
        lines += [part.describe() for part in (self.train, self.validation, self.test)]
        if self.dropped:
            lines.append(f"left out: {len(self.dropped)} files that cannot be read")
        return "\n".join(lines)


def fingerprint(images: ImageSet) -> str:
    """Return a word that changes when the images of a set do, or their order."""
    seen = hashlib.sha256(images.labels.numpy().tobytes())
    if images.pixels is not None:
        seen.update(images.pixels.contiguous().numpy().tobytes())
    for path in images.paths or ():
        seen.update(path.name.encode())  # the folder may have been moved
    return seen.hexdigest()[:16]
