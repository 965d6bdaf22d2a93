"""The binary problems of the study, and where their images are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rankwise.data import DataError
from rankwise.data.images.image_set import ClassSplits
from rankwise.data.images.readers import open_classes

_LATE = ("dog", "frog", "horse", "ship", "truck")
FRUIT = ("apple", "mushroom", "orange", "pear", "sweet_pepper")
INSECTS = ("bee", "beetle", "butterfly", "caterpillar", "cockroach")
LARGE_MAMMALS = ("camel", "cattle", "chimpanzee", "elephant", "kangaroo")

FASHION, CIFAR_10, CIFAR_100, RARE = (
    "Fashion-MNIST-LT",
    "CIFAR-10-LT",
    "CIFAR-100-LT",
    "CIFAR-10, 2 %",
)


@dataclass(frozen=True)
class Problem:
    """A positive class in a data set; ``open(seed)`` gives its parts.

    ``tunings``: number of trainings by which a setting is chosen on this problem.
    """

    data_set: str
    name: str
    open: Callable[[int], ClassSplits]
    tunings: int = 1


def real_problems(root: Path | None, *, quick: bool) -> tuple[Problem, ...]:
    """Those of a folder with ``fashion_mnist``, ``cifar10_subset.npz``, ``cifar100_subset.npz``.

    A data set that is not there is left out; one must be there.
    """
    if root is None:
        raise DataError(
            "longtail needs --data: the folder with fashion_mnist and cifar10_subset.npz "
            "(or cifar10, cifar100: the binary versions)"
        )
    found: list[Problem] = []
    fashion = root / "fashion_mnist"
    if fashion.exists():
        names = ("Dress",) if quick else ("Pullover", "Dress", "Coat")
        source = ("fashion-mnist", fashion)
        found += [_problem(FASHION, n, source, (n,), {"imbalance": 100.0}) for n in names]
    tail: dict[str, Any] = {"imbalance": 100.0, "tail_in": "train"}
    if (ten := _first(root, "cifar10_subset.npz", "cifar10", "cifar-10-batches-bin")) is not None:
        names = ("automobile",) if quick else ("automobile", "bird", "cat")
        found += [_problem(CIFAR_10, n, ("cifar", ten), (n,), tail) for n in names]
    hundred = _first(root, "cifar100_subset.npz", "cifar100", "cifar-100-binary")
    if hundred is not None and not quick:
        kinds = {"fruit": FRUIT, "insects": INSECTS, "large mammals": LARGE_MAMMALS}
        found += [_problem(CIFAR_100, n, ("cifar", hundred), c, tail) for n, c in kinds.items()]
    if ten is not None:
        rare = _problem(RARE, "late classes", ("cifar", ten), _LATE, {"positive_share": 0.02})
        # One training on 61 positives tells settings apart by no more than chance.
        found.append(replace(rare, tunings=3))
    if not found:
        raise DataError(f"{root}: holds neither fashion_mnist nor cifar10_subset.npz")
    return tuple(found)


def _problem(
    data_set: str,
    name: str,
    files: tuple[str, Path],
    positive: tuple[str, ...],
    how: dict[str, Any],
) -> Problem:
    kind, path = files

    @lru_cache(maxsize=1)
    def opened(seed: int) -> ClassSplits:
        return open_classes(kind, path, positive=positive, seed=seed, **how)

    return Problem(data_set, name, opened)


def _first(root: Path, *names: str) -> Path | None:
    return next((root / name for name in names if (root / name).exists()), None)
