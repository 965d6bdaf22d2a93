"""Behance: likes, and image features of 4 096 numbers brought down to 50."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError
from reproductions.papk_table3.instances import Instances, crossed
from reproductions.reduction import reducer

LIKES, FEATURES = "Behance_appreciate_1M", "Behance_Image_Features.b"
_ID = 8  # bytes of an image's id before its features

Array = NDArray[np.float64]


def is_behance(path: Path) -> bool:
    """Whether this is a folder with the published files."""
    return path.is_dir() and (path / LIKES).exists()


def read_behance(
    folder: Path,
    seed: int = 0,
    *,
    width: int = 4096,
    dimensions: int = 50,
    profile: int = 50,
    least: int = 10,
    most: int = 170,
    negatives: tuple[int, ...] = (4, 5, 6),
    reduction: str = "pca",
) -> Instances:
    """The published files of He et al. (2016) as the paper's instances.

    ``Behance_appreciate_1M`` has a line ``user image time`` for every like,
    ``Behance_Image_Features.b`` 8 bytes of id and ``width`` single-precision numbers for every
    image. A user's features are the mean of ``profile`` liked images drawn at random; the other
    likes are the positives, and for label 0 as many times more images that were not liked are
    drawn as one of ``negatives`` says, drawn for the user. Users with fewer than ``least``
    positives or more than ``most`` likes are left out; these numbers are those of the authors'
    code, about which the paper is silent. ``reduction`` brings the images down to that many
    ``dimensions``: ``"pca"``, principal components, or the paper's ``"umap"``.
    """
    reduce = reducer(reduction)  # refused before the images are read
    ids, images = read_image_features(folder / FEATURES, width)
    small = reduce(images, dimensions, seed)
    likes = _likes(folder / LIKES, {name: place for place, name in enumerate(ids)})
    rng = np.random.default_rng(seed)
    rows: list[tuple[Array, NDArray[np.int64], NDArray[np.bool_]]] = []
    for liked in likes.values():
        if not profile + least <= len(liked) <= most:
            continue
        mixed = rng.permutation(liked)
        own, positive = mixed[:profile], mixed[profile:]
        others = np.setdiff1d(np.arange(len(ids)), liked)
        wanted = min(len(others), int(rng.choice(negatives)) * len(positive))
        negative = rng.choice(others, wanted, replace=False)
        items = np.concatenate([positive, negative])
        rows.append((small[own].mean(0), items, np.arange(len(items)) < len(positive)))
    if not rows:
        raise DataError(
            f"{folder}: no user has {profile + least} to {most} likes of images with features"
        )
    sizes = [len(items) for _, items, _ in rows]
    user = np.repeat(np.stack([mean for mean, _, _ in rows]), sizes, axis=0)
    return Instances(
        "Behance",
        crossed(user, small[np.concatenate([items for _, items, _ in rows])]),
        np.concatenate([labels for _, _, labels in rows]),
        np.repeat(np.arange(len(rows)), sizes),
        f"Images of {width:,} features brought to {small.shape[1]} by {reduction.upper()}; a user "
        f"is the mean of "
        f"{profile} liked images, the other likes are positives, with "
        f"{' or '.join(map(str, negatives))} drawn images that were not liked for each.",
    )


def read_image_features(path: Path, width: int = 4096) -> tuple[list[str], Array]:
    """The ids and features of all images of a binary file."""
    record = np.dtype([("id", f"S{_ID}"), ("features", "<f4", (width,))])
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    size = path.stat().st_size
    if size == 0 or size % record.itemsize:
        raise DataError(
            f"{path}: must hold records of {record.itemsize} bytes, an id of {_ID} and {width} "
            f"numbers, got {size:,} bytes"
        )
    records = np.fromfile(path, dtype=record)
    return [name.decode() for name in records["id"]], records["features"].astype(np.float64)


def _likes(path: Path, places: dict[str, int]) -> dict[str, NDArray[np.int64]]:
    """The images every user liked, without those that have no features."""
    found: dict[str, set[int]] = {}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            words = line.split()
            if len(words) != 3:
                raise DataError(
                    f"{path}: line {number}: must be a user, an image and a time, got {line!r}"
                )
            if words[1] in places:
                found.setdefault(words[0], set()).add(places[words[1]])
    return {user: np.array(sorted(liked)) for user, liked in found.items()}
