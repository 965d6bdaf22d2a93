"""The two data sets: many classes, and those of the test never trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankwise.data import DataError
from rankwise.data.images import RetrievalSplits, open_images
from rankwise.vision.settings import Augmentations

_SHARE = 0.2  # of the training classes, to choose by
_WEIGHTS = "mobilenet_v2*.pth"


@dataclass(frozen=True, eq=False)
class Problem:
    """A data set in its three parts, and the augmentations of a network from scratch."""

    name: str
    splits: RetrievalSplits
    augmentations: Augmentations


def read_problems(folder: Path) -> tuple[Problem, ...]:
    """Omniglot by character and CIFAR-100 from a folder of data sets."""
    images = folder / "images"
    omniglot = _first(images, ("omniglot_small", "omniglot"))
    cifar = _first(images, ("cifar100_subset.npz", "cifar100.npz", "cifar-100-binary"))
    return (
        Problem(
            "Omniglot",
            open_images("omniglot", omniglot, validation_share=_SHARE),
            Augmentations(resize=32, crop=28, flip=False, rotation=15),
        ),
        Problem(
            "CIFAR-100",
            open_images("cifar", cifar, validation_share=_SHARE),
            Augmentations(resize=36, crop=32, flip=True, rotation=15),
        ),
    )


def find_weights(folder: Path) -> Path:
    """The file of MobileNetV2's weights in a folder of data sets."""
    found = sorted((folder / "weights").glob(_WEIGHTS))
    if not found:
        raise DataError(f"{folder / 'weights'}: holds no {_WEIGHTS}, the pretrained network")
    return found[0]


def _first(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise DataError(f"{folder}: holds none of {', '.join(names)}")
