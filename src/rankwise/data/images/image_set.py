"""Sets of images with labels, and their training, validation and test parts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.images._listing import Recorded
from rankwise.data.images.fingerprints import fingerprint_of
from rankwise.data.images.image_file import BrokenImage, image_size, read_image

_LOOKED_AT = 100  # files whose size a description gives; opening all of a large set takes minutes


def require_range(name: str, ids: Tensor, count: int) -> None:
    """Raise unless all class ids are from 0 to ``count`` − 1."""
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < count:
        low, high = int(ids.min()), int(ids.max())
        raise ValueError(f"{name} must be from 0 to {count - 1}, got {low} to {high}")


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images with a class each: files that are read on demand, or pixels held in memory.

    Args:
        name: Name of the set.
        labels: Class ids from 0, long (n,).
        classes: Name of every class id.
        paths: Files of the images.
        pixels: Images, uint8 (n, channels, h, w), of 1 or 3 channels; either these or paths.
        families: Super-class of every class, where the data set has them.

    Raises:
        ValueError: Where shapes, types or labels do not fit together.

    Example:
        >>> import torch
        >>> from rankwise.data.images import ImageSet
        >>> pixels = torch.zeros(3, 1, 8, 8, dtype=torch.uint8)
        >>> images = ImageSet("digits", torch.tensor([0, 1, 1]), ("zero", "one"), pixels=pixels)
        >>> images.counts, images.load(0).shape
        (tensor([1, 2]), torch.Size([3, 8, 8]))
        >>> images.subset([1, 2], renumber=True).classes
        ('one',)
    """

    name: str
    labels: Tensor
    classes: tuple[str, ...]
    paths: tuple[Path, ...] | None = None
    pixels: Tensor | None = None
    families: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if (self.paths is None) == (self.pixels is None):
            raise ValueError("an ImageSet has either paths or pixels, exactly one of them")
        if self.labels.dtype != torch.long or self.labels.ndim != 1:
            raise ValueError(
                f"labels must be a long tensor of shape (n,), got {self.labels.dtype} of shape "
                f"{tuple(self.labels.shape)}"
            )
        pixels = self.pixels
        if pixels is not None and (
            pixels.dtype != torch.uint8 or pixels.ndim != 4 or pixels.shape[1] not in (1, 3)
        ):
            raise ValueError(
                f"pixels must be a uint8 tensor of shape (n, 1 or 3, h, w), got {pixels.dtype} of "
                f"shape {tuple(pixels.shape)}"
            )
        held = len(self.paths or ()) if pixels is None else len(pixels)
        if held != len(self.labels):
            raise ValueError(f"there must be a label for each of {held} images, got {len(self)}")
        require_range("labels", self.labels, len(self.classes))
        if self.families is not None and len(self.families) != len(self.classes):
            raise ValueError(
                f"families must be one per class, {len(self.classes)}, got {len(self.families)}"
            )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def counts(self) -> Tensor:
        """Number of images of every class: long, (classes,)."""
        return torch.bincount(self.labels, minlength=len(self.classes))

    @property
    def tree(self) -> Tensor | None:
        """Super-class and class of every image, long (n, 2); None without super-classes."""
        if self.families is None:
            return None
        number = {name: i for i, name in enumerate(dict.fromkeys(self.families))}
        family = torch.tensor([number[name] for name in self.families], dtype=torch.long)
        return torch.stack([family[self.labels], self.labels], 1)

    def load(self, i: int) -> Tensor:
        """Return image ``i`` in RGB, uint8 (3, h, w), or raise :class:`BrokenImage`."""
        if self.pixels is not None:
            return self.pixels[i].expand(3, -1, -1).clone()  # the caller may write on it
        assert self.paths is not None  # __post_init__ saw to it
        return read_image(self.paths[i])

    def subset(
        self, indices: Sequence[int] | Tensor, name: str | None = None, *, renumber: bool = False
    ) -> ImageSet:
        """Return the images ``indices``, in that order, as a set of this or another name.

        Class ids stay as they are; with ``renumber`` only the classes that occur are kept, and
        their ids run from 0 in the same order.
        """
        chosen = torch.as_tensor(indices, dtype=torch.long)
        labels, classes, families = self.labels[chosen], self.classes, self.families
        if renumber:
            kept, labels = torch.unique(labels, return_inverse=True)
            classes = tuple(self.classes[old] for old in kept.tolist())
            if families is not None:
                families = tuple(families[old] for old in kept.tolist())
        paths = None if self.paths is None else tuple(self.paths[i] for i in chosen.tolist())
        pixels = None if self.pixels is None else self.pixels[chosen]
        return ImageSet(name or self.name, labels, classes, paths, pixels, families)

    def describe(self) -> str:
        """Return a line with the numbers of images and classes, and the sizes in pixels."""
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
        sizes = []
        for path in seen:
            with suppress(BrokenImage):  # whoever reads it says so, or goes on without it
                sizes.append(image_size(path))
        if not sizes:
            return "of unknown size"
        ends = ["×".join(str(end(side)) for side in zip(*sizes, strict=True)) for end in (min, max)]
        span = " to ".join(dict.fromkeys(ends))
        of = "" if len(seen) == len(paths) else f" ({len(seen)} files looked at)"
        return f"{span} pixels{of}"


@dataclass(frozen=True, eq=False)
class RetrievalSplits:
    """Training, validation and test images of a retrieval data set.

    Class ids run from 0 in each part: the same id is another class in another part. No class is in
    two parts, unless a csv or a folder of the user has it so.

    Args:
        train: Training images.
        validation: Validation images; none (length 0) where everything but the test is trained on.
        test: Test images.
        galleries: Queries and gallery by the name of the list, where a data set has several test
            lists, with the class ids of ``test``. Where both are the same object, and for ``test``
            itself, every image is a query against all others.
        dropped: Files that were left out by ``skip_broken``.
        remarks: How the images were split, and which files were ignored.
        record: The part of every image of a user, by which a run repeats the split.

    Example:
        >>> import torch
        >>> from rankwise.data.images import ImageSet, RetrievalSplits
        >>> pixels = torch.zeros(2, 3, 8, 8, dtype=torch.uint8)
        >>> def part(name):
        ...     return ImageSet(name, torch.tensor([0, 0]), (f"{name} class",), pixels=pixels)
        >>> splits = RetrievalSplits(part("train"), part("validation"), part("test"))
        >>> print(splits.describe())
        train: 2 images of 1 classes, 2 a class (mean 2.0), 8×8 pixels
        validation: 2 images of 1 classes, 2 a class (mean 2.0), 8×8 pixels
        test: 2 images of 1 classes, 2 a class (mean 2.0), 8×8 pixels
    """

    train: ImageSet
    validation: ImageSet
    test: ImageSet
    galleries: dict[str, tuple[ImageSet, ImageSet]] | None = None
    dropped: tuple[BrokenImage, ...] = ()
    remarks: tuple[str, ...] = ()
    record: tuple[Recorded, ...] = ()

    def describe(self) -> str:
        """Return a line for every remark and part, then one for every gallery."""
        lines = []
        for name, (queries, gallery) in (self.galleries or {}).items():
            asked = "" if queries is gallery else f", {len(queries)} queries"
            lines.append(f"gallery {name}: {gallery.describe()}{asked}")
        if seen := set(self.train.classes) & set(self.test.classes):
            lines.append(f"{len(seen)} of {len(self.test.classes)} test classes are trained on")
        return _described(self, lines)


_NAMED = 6  # classes whose sizes a description gives


@dataclass(frozen=True, eq=False)
class LabeledImages:
    """Images of a classification data set, with one class or several labels per image.

    Args:
        images: The images. Their ``labels`` are the classes or, with several labels per image, a
            number for every combination of labels.
        target: Class ids, long (n,), or 0 and 1 for every label, long (n, classes).
        classes: Names of the classes.

    Raises:
        ValueError: Where the target does not fit the images and classes.

    Example:
        >>> import torch
        >>> from rankwise.data.images import ImageSet, LabeledImages
        >>> pixels, target = torch.zeros(3, 1, 8, 8, dtype=torch.uint8), torch.tensor([0, 1, 1])
        >>> images = ImageSet("digits", target, ("zero", "one"), pixels=pixels)
        >>> labeled = LabeledImages(images, target, ("zero", "one"))
        >>> labeled.binary, labeled.counts
        (True, tensor([1, 2]))
    """

    images: ImageSet
    target: Tensor
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
        require_range("target", self.target, 2 if several else len(self.classes))

    def __len__(self) -> int:
        return len(self.images)

    @property
    def name(self) -> str:
        """The name of the images."""
        return self.images.name

    @property
    def multi_label(self) -> bool:
        """Whether an image can have several labels, or none."""
        return self.target.ndim == 2

    @property
    def binary(self) -> bool:
        """Whether there are two classes, the second of which is the positive one."""
        return not self.multi_label and len(self.classes) == 2

    @property
    def hot(self) -> Tensor:
        """The target as 0 and 1 for every image and class, (n, classes)."""
        if self.multi_label:
            return self.target
        return torch.nn.functional.one_hot(self.target, len(self.classes))

    @property
    def counts(self) -> Tensor:
        """Number of images of every class."""
        return self.hot.sum(0)

    def subset(self, rows: Sequence[int] | Tensor, name: str | None = None) -> LabeledImages:
        """Return the images ``rows``, in that order, with the same classes."""
        chosen = torch.as_tensor(rows, dtype=torch.long)
        images = self.images.subset(chosen, name)
        return LabeledImages(images, self.target[chosen], self.classes)

    def describe(self) -> str:
        """Return a line with the number of images, and of those of every class."""
        pairs = list(zip(self.classes, self.counts.tolist(), strict=True))
        shown = ", ".join(f"{name} {count}" for name, count in pairs[:_NAMED])
        more = f", … {pairs[-1][0]} {pairs[-1][1]}" if len(pairs) > _NAMED else ""
        kind = "labels" if self.multi_label else "classes"
        return f"{self.name}: {len(self)} images of {len(pairs)} {kind}: {shown}{more}"


@dataclass(frozen=True, eq=False)
class ClassSplits:
    """Training, validation and test images of a classification data set, with the same class ids.

    Args:
        train: Training images.
        validation: Validation images, maybe none.
        test: Test images.
        dropped, remarks, record: See :class:`RetrievalSplits`.

    Example:
        >>> import torch
        >>> from rankwise.data.images import ClassListing, ClassSplits
        >>> pixels, classes = torch.zeros(4, 1, 8, 8, dtype=torch.uint8), ("cat", "dog")
        >>> listing = ClassListing("pets", torch.tensor([0, 0, 1, 1]), classes, pixels=pixels)
        >>> whole = listing.images()
        >>> splits = ClassSplits(whole.subset([0, 2]), whole.subset([]), whole.subset([1, 3]))
        >>> len(splits.train), len(splits.validation), splits.test.counts
        (2, 0, tensor([1, 1]))
    """

    train: LabeledImages
    validation: LabeledImages
    test: LabeledImages
    dropped: tuple[BrokenImage, ...] = ()
    remarks: tuple[str, ...] = ()
    record: tuple[Recorded, ...] = ()

    def describe(self) -> str:
        """Return a line for every remark, then one for every part."""
        return _described(self)


def _described(splits: RetrievalSplits | ClassSplits, more: Sequence[str] = ()) -> str:
    parts = [part.describe() for part in (splits.train, splits.validation, splits.test)]
    count = len(splits.dropped)
    left_out = [f"left out: {count} files that cannot be read"] if count else []
    return "\n".join([*splits.remarks, *parts, *more, *left_out])


def fingerprint(images: ImageSet, *, full: bool = False) -> str:
    """Return digests of the images of a set and their order, see :func:`fingerprint_of`."""
    labels = [images.labels.numpy().tobytes()]
    pixels = None if images.pixels is None else [images.pixels]
    return fingerprint_of(labels, paths=images.paths, pixels=pixels, full=full)
