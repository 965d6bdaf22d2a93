"""Data sets for classification by the name of their kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rankwise.checks import require_one_of
from rankwise.data.images import cifar, folders, idx, own
from rankwise.data.images.chestxray import chestxray
from rankwise.data.images.class_division import divide_classes
from rankwise.data.images.labeled import ClassSplits
from rankwise.data.images.listing import Listing, Recorded
from rankwise.data.images.medmnist import medmnist
from rankwise.data.images.pool import Pool, pool_of
from rankwise.data.images.recorded import as_recorded

__all__ = ["CLASS_KINDS", "open_classes"]

_READERS: dict[str, Callable[[Path], Pool]] = {
    "cifar": lambda root: pool_of(cifar.cifar(root)),
    "fashion-mnist": lambda root: pool_of(idx.fashion_mnist(root), idx._CLASSES),
    "chestxray14": chestxray,
    "medmnist": medmnist,
}
_OWN: dict[str, Callable[[Path], Listing]] = {
    "folder": folders.folder,
    "csv": own.comma_separated,
}
CLASS_KINDS = (*_READERS, *_OWN)


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
) -> ClassSplits:
    """Read a data set for classification and divide it; ``DataError`` for what is wrong.

    kind
        One of :data:`CLASS_KINDS`.
    imbalance
        Make it long-tailed: class c of C keeps n · imbalance^{−c/(C−1)} images, in the order of
        the classes; None takes the classes as they are.
    tail_in
        ``"all"``: all parts are long-tailed, as in StableAP's Table 6; ``"train"``: only the images
        to train on, as CIFAR-10-LT usually is.
    positive
        Classes that are the positive one of a binary problem, against all the others.
    positive_share
        Leave so many positives to train on that they are this share; validation and test stay.
    validation_share, test_share
        Of the images of every class, where the data set has no parts of its own (``test_share``
        None: 0.1); where it has no validation, that comes from its training images in the same
        proportion.
    seed
        Of everything that is drawn here.
    recorded
        The ``record`` of an earlier opening: the same images in the same parts again.
    skip_broken
        Leave out files that are missing or empty, instead of ending.
    """
    require_one_of("kind", kind, CLASS_KINDS)
    require_one_of("tail_in", tail_in, ("all", "train"))
    test = 0.1 if test_share is None else test_share
    if not (validation_share >= 0 and 0 < test < 1 and validation_share + test < 1):
        raise ValueError(
            "validation_share and test_share must be shares that leave images to train on, got "
            f"{validation_share} and {test_share}"
        )
    if kind in _OWN:
        listing = _OWN[kind](Path(root))
        pool = pool_of(listing if recorded is None else as_recorded(listing, recorded))
    else:
        pool = _READERS[kind](Path(root))
    return divide_classes(
        pool,
        imbalance=imbalance,
        tail_in=tail_in,
        positive=positive,
        positive_share=positive_share,
        validation_share=validation_share,
        test_share=test_share,
        seed=seed,
        skip_broken=skip_broken,
    )
