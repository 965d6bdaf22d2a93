"""Data sets for classification by the name of their kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rankwise.checks import require_one_of
from rankwise.data.images import cifar, idx, own
from rankwise.data.images.chestxray import chestxray
from rankwise.data.images.class_division import Shares, divide_classes
from rankwise.data.images.labelled import ClassSplits
from rankwise.data.images.medmnist import medmnist
from rankwise.data.images.pool import Pool, pool_of

__all__ = ["CLASS_KINDS", "open_classes"]

_READERS: dict[str, Callable[[Path], Pool]] = {
    "cifar": lambda root: pool_of(cifar.cifar(root)),
    "fashion-mnist": lambda root: pool_of(idx.fashion_mnist(root), idx._CLASSES),
    "folder": lambda root: pool_of(own.folder(root)),
    "csv": lambda root: pool_of(own.comma_separated(root)),
    "chestxray14": chestxray,
    "medmnist": medmnist,
}
CLASS_KINDS = tuple(_READERS)


def open_classes(
    kind: str,
    root: str | Path,
    *,
    imbalance: float | None = None,
    tail_in: str = "all",
    positive: tuple[str, ...] = (),
    positive_share: float | None = None,
    shares: Shares = (0.8, 0.1, 0.1),
    seed: int = 0,
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
    shares
        Of train, validation and test, in every class, where the data set has no parts of its own;
        where it has no validation, that comes from its training images in the same proportion.
    seed
        Of everything that is drawn here.
    skip_broken
        Leave out files that are missing or empty, instead of ending.
    """
    require_one_of("kind", kind, CLASS_KINDS)
    require_one_of("tail_in", tail_in, ("all", "train"))
    if len(shares) != 3 or min(shares) < 0 or shares[0] <= 0 or abs(sum(shares) - 1) > 1e-6:
        raise ValueError(f"shares must be three numbers >= 0 that add up to 1, got {shares}")
    return divide_classes(
        _READERS[kind](Path(root)),
        imbalance=imbalance,
        tail_in=tail_in,
        positive=positive,
        positive_share=positive_share,
        shares=shares,
        seed=seed,
        skip_broken=skip_broken,
    )
