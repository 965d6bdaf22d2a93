"""Any of the image data sets by the name of its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rankwise.checks import require_one_of
from rankwise.data.images import cifar, fine_grained, folders, idx, omniglot, own, published
from rankwise.data.images.base import ImageSet, RetrievalSplits
from rankwise.data.images.division import divide
from rankwise.data.images.drawing import SPLITS, Draw
from rankwise.data.images.image_file import BrokenImage
from rankwise.data.images.listing import Listing, Recorded
from rankwise.data.images.recorded import as_recorded

__all__ = ["KINDS", "find_broken", "open_images"]

_READERS: dict[str, Callable[[Path], Listing]] = {
    "sop": published.sop,
    "vehicleid": published.vehicleid,
    "inaturalist": published.inaturalist,
    "cub200": fine_grained.cub200,
    "cars196": fine_grained.cars196,
    "folder": folders.folder,
    "csv": own.comma_separated,
    "fashion-mnist": idx.fashion_mnist,
    "omniglot": omniglot.omniglot,
    "cifar": cifar.cifar,
}
KINDS = tuple(_READERS)


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
) -> RetrievalSplits:
    """Read a data set and divide it; :class:`~rankwise.data.DataError` for what is wrong.

    kind
        One of :data:`KINDS`.
    root
        The folder that the data set was unpacked to (for ``csv`` and ``cifar``: the file, too).
    trainval
        Train on everything but the test images; the validation part is then empty.
    seed, validation_share
        Which classes, and what share of them, are to choose by: ⌈share⌉ of every super-class.
    test_share, split
        For ``folder`` and ``csv`` without parts of their own: the share that is to test on (None:
        0.2), and whether it is of the ``"classes"``, which are then not trained on, or of the
        ``"images"`` of every class. None: of the classes where there are enough of them.
    recorded
        The ``record`` of an earlier opening: the same images in the same parts again.
    skip_broken
        Leave out files that are missing, empty or no pictures, instead of ending; they are in
        ``dropped``. Other damage shows when an image is read: :func:`find_broken` looks for it,
        and with ``skip_broken`` those to choose by and to test on are read once for it.
    """
    require_one_of("kind", kind, KINDS)
    if not 0 < validation_share < 1:
        raise ValueError(f"validation_share must be between 0 and 1, got {validation_share}; "
                         "trainval=True leaves nothing to choose by")  # fmt: skip
    if test_share is not None and not 0 < test_share < 1:
        raise ValueError(f"test_share must be between 0 and 1, got {test_share}")
    if split is not None:
        require_one_of("split", split, SPLITS)
    listing = _READERS[kind](Path(root))
    if recorded is not None:
        listing = as_recorded(listing, recorded)
    how = Draw(test_share, validation_share, split, seed, validation=not trainval)
    return divide(listing, how, skip_broken=skip_broken)


def find_broken(images: ImageSet) -> tuple[BrokenImage, ...]:
    """Read every image, and give back those that cannot be."""
    found = []
    for i in range(len(images)):
        try:
            images.load(i)
        except BrokenImage as error:
            found.append(error)
    return tuple(found)
