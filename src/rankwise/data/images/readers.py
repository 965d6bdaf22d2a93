"""Open an image data set by the name of its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rankwise.checks import require_one_of
from rankwise.data.errors import parsing
from rankwise.data.images import _published as published
from rankwise.data.images._class_split import (
    ClassDraw,
    ClassListing,
    as_class_listing,
    divide_classes,
)
from rankwise.data.images._inside import require_inside
from rankwise.data.images._listing import (
    Listing,
    Recorded,
    as_recorded,
    csv_listing,
    folder_listing,
)
from rankwise.data.images._retrieval_split import SPLITS, Draw, divide
from rankwise.data.images.arrays import FASHION_CLASSES, cifar, fashion_mnist, medmnist, omniglot
from rankwise.data.images.image_file import BrokenImage, unreadable
from rankwise.data.images.image_set import ClassSplits, ImageSet, RetrievalSplits

_USER: dict[str, Callable[[Path], Listing]] = {"folder": folder_listing, "csv": csv_listing}
_RETRIEVAL: dict[str, Callable[[Path], Listing]] = {
    "sop": published.sop,
    "vehicleid": published.vehicleid,
    "inaturalist": published.inaturalist,
    "cub200": published.cub200,
    "cars196": published.cars196,
    **_USER,
    "fashion-mnist": fashion_mnist,
    "omniglot": omniglot,
    "cifar": cifar,
}
_CLASSIFICATION: dict[str, Callable[[Path], ClassListing]] = {
    "cifar": lambda root: as_class_listing(cifar(root)),
    "fashion-mnist": lambda root: as_class_listing(fashion_mnist(root), FASHION_CLASSES),
    "chestxray14": published.chestxray,
    "medmnist": medmnist,
}
KINDS = tuple(_RETRIEVAL)
"""Kinds of data sets that :func:`open_images` reads."""
CLASS_KINDS = (*_CLASSIFICATION, *_USER)
"""Kinds of data sets that :func:`open_classes` reads."""


def open_images(
    kind: str,
    root: str | Path,
    *,
    trainval: bool = False,
    seed: int = 0,
    validation_share: float = 0.1,
    test_share: float | None = None,
    split: str | None = None,
    recorded: Sequence[Recorded] | None = None,
    skip_broken: bool = False,
    allow_outside: bool = False,
) -> RetrievalSplits:
    """Read an image data set for retrieval and split it.

    Args:
        kind: One of :data:`KINDS`.
        root: Folder that the data set was unpacked to (for ``csv`` and ``cifar``: the file, too).
        trainval: Whether to train on everything but the test images; validation is then empty.
        seed: Random seed of the split.
        validation_share: Share of the classes of every super-class for validation, rounded up.
        test_share: Share for the test, for ``folder`` and ``csv`` without parts; None: 0.2.
        split: Whether shares are of the ``"classes"``, which are then not trained on, or of the
            ``"images"`` of every class. None: of the classes where there are enough of them.
        recorded: The ``record`` of an earlier call: the same images in the same parts again.
        skip_broken: Whether to leave out files that are missing, empty or not images, instead of
            raising; they are in ``dropped``. Validation and test images are read once to find
            other damage, :func:`find_broken` does so for any set.
        allow_outside: Whether lists may name files outside of ``root``, by absolute paths, ``..``
            or links.

    Returns:
        The training, validation and test images.

    Raises:
        DataError: Where files are missing or wrong.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from PIL import Image
        >>> from rankwise.data.images import open_images
        >>> with TemporaryDirectory() as root:
        ...     for name in ("cat", "dog"):
        ...         Path(root, name).mkdir()
        ...         for i in range(10):
        ...             Image.new("RGB", (8, 8)).save(Path(root, name, f"{i}.png"))
        ...     splits = open_images("folder", root)
        >>> len(splits.train), len(splits.validation), len(splits.test)
        (12, 4, 4)
    """
    require_one_of("kind", kind, KINDS)
    if not 0 < validation_share < 1:
        raise ValueError(f"validation_share must be between 0 and 1, got {validation_share}; "
                         "pass trainval=True for no validation")  # fmt: skip
    if test_share is not None and not 0 < test_share < 1:
        raise ValueError(f"test_share must be between 0 and 1, got {test_share}")
    if split is not None:
        require_one_of("split", split, SPLITS)
    root = Path(root)
    with parsing(root, f"{kind} images"):
        listing = _RETRIEVAL[kind](root)
        if recorded is not None:
            listing = as_recorded(listing, recorded)
        if not allow_outside:
            require_inside(root, listing.paths or ())
        how = Draw(test_share, validation_share, split, seed, validation=not trainval)
        return divide(listing, how, skip_broken=skip_broken)


def find_broken(images: ImageSet) -> tuple[BrokenImage, ...]:
    """Read every image of a set, and return the errors of those that cannot be read.

    Args:
        images: The set.

    Returns:
        The errors, each with the path and the reason.

    Example:
        >>> from pathlib import Path
        >>> import torch
        >>> from rankwise.data.images import ImageSet, find_broken
        >>> images = ImageSet("one", torch.tensor([0]), ("cat",), paths=(Path("no-such.png"),))
        >>> [broken.reason for broken in find_broken(images)]
        ['there is no such file']
    """
    paths = images.paths or ()
    return tuple(unreadable(paths, range(len(paths))).values())


def open_classes(
    kind: str,
    root: str | Path,
    *,
    imbalance: float | None = None,
    tail_in: str = "all",
    positive: tuple[str, ...] = (),
    positive_share: float | None = None,
    validation_share: float = 0.1,
    test_share: float | None = None,
    seed: int = 0,
    recorded: Sequence[Recorded] | None = None,
    skip_broken: bool = False,
    allow_outside: bool = False,
) -> ClassSplits:
    """Read an image data set for classification and split it.

    Args:
        kind: One of :data:`CLASS_KINDS`.
        root: Folder or file of the data set.
        imbalance: Make it long-tailed: class c of C keeps n · imbalance^{−c/(C−1)} images, in the
            order of the classes; None: classes as they are.
        tail_in: ``"all"`` makes all parts long-tailed, as in StableAP's Table 6; ``"train"`` only
            the training images, as CIFAR-10-LT usually is.
        positive: Classes that are the positive one of a binary problem, against all the others.
        positive_share: Share of positives among the training images; validation and test stay.
        validation_share: Share of the images of every class for validation, where the data set
            has no validation part.
        test_share: Share of the images of every class for the test, where the data set has no
            test part; None: 0.1.
        seed: Random seed of everything that is drawn.
        recorded: The ``record`` of an earlier call: the same images in the same parts again.
        skip_broken: Whether to leave out files that are missing or empty, instead of raising.
        allow_outside: Whether lists may name files outside of ``root``, by absolute paths, ``..``
            or links.

    Returns:
        The training, validation and test images.

    Raises:
        DataError: Where files are missing or wrong.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from PIL import Image
        >>> from rankwise.data.images import open_classes
        >>> with TemporaryDirectory() as root:
        ...     for name in ("cat", "dog"):
        ...         Path(root, name).mkdir()
        ...         for i in range(10):
        ...             Image.new("RGB", (8, 8)).save(Path(root, name, f"{i}.png"))
        ...     splits = open_classes("folder", root)
        >>> len(splits.train), len(splits.validation), len(splits.test)
        (16, 2, 2)
    """
    require_one_of("kind", kind, CLASS_KINDS)
    require_one_of("tail_in", tail_in, ("all", "train"))
    test = 0.1 if test_share is None else test_share
    if not (validation_share >= 0 and 0 < test < 1 and validation_share + test < 1):
        raise ValueError(
            "validation_share and test_share must be shares that leave images to train on, got "
            f"{validation_share} and {test_share}"
        )
    cut = (imbalance, tail_in, positive, positive_share)
    how = ClassDraw(*cut, validation_share, test_share, seed)
    root = Path(root)
    with parsing(root, f"{kind} images"):
        if kind in _USER:
            own = _USER[kind](root)
            listed = as_class_listing(own if recorded is None else as_recorded(own, recorded))
        else:
            listed = _CLASSIFICATION[kind](root)
        if not allow_outside:
            require_inside(root, listed.paths or ())
        return divide_classes(listed, how, skip_broken=skip_broken)
