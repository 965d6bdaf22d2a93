"""Index of image embeddings in a file, and the search in it for the nearest images."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.data.images import BrokenImage, ImageSet
from rankwise.data.images.image_file import image_size
from rankwise.errors import UsageError, foreign_errors
from rankwise.files import read_npz, write_npz
from rankwise.retrieval import ApproximateSearch, Cells, Nearest, Recall, nearest
from rankwise.tasks.retrieval.task import EmbeddingNet
from rankwise.vision.augmentations import center_crop, resize
from rankwise.vision.image_dataset import ImageDataset, OnBroken, compute_outputs
from rankwise.vision.settings import Augmentations

_ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff"}
_ANEW = "write it again with `rankwise retrieval index`"


@dataclass(frozen=True)
class Index:
    """Unit vectors (n, dimension), and where each image is and what it shows."""

    embeddings: NDArray[np.float32]
    paths: NDArray[np.str_]
    labels: NDArray[np.str_]
    network: str  # the fingerprint of what made it: vectors of another mean something else
    cells: Cells | None = None  # for approximate search


@dataclass(frozen=True)
class Match:
    """One of the nearest images."""

    score: float  # cosine
    path: str
    label: str


def fingerprint(network: EmbeddingNet) -> str:
    """Return a digest of the weights of a network and of the statistics it has learned."""
    seen = hashlib.sha256()
    for name, value in sorted(network.state_dict().items()):
        seen.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        # As bytes, which every dtype has: numpy knows no bfloat16.
        seen.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return seen.hexdigest()[:16]


def make_index(
    network: EmbeddingNet, images: ImageSet, augmentations: Augmentations, *, workers: int = 0
) -> Index:
    """Embed all images of a set; one held in memory is known by its number."""
    embeddings = compute_outputs(network, ImageDataset(images, augmentations), workers=workers)
    names = images.paths or [f"{images.name}#{i}" for i in range(len(images))]
    return Index(
        embeddings.numpy().astype(np.float32),
        np.array([str(name) for name in names]),
        np.array([images.classes[label] for label in images.labels.tolist()]),
        fingerprint(network),
    )


def with_cells(index: Index, recall: float = 0.95) -> tuple[Index, Recall]:
    """Return the index with cells for approximate search, and the recall of that search."""
    made = ApproximateSearch(index.embeddings, recall=recall)
    return replace(index, cells=made.cells), made.recall()


def write_index(path: Path, index: Index) -> Path:
    """Write an npz file of plain arrays: nothing in it is ever executed."""
    arrays = {name: value for name, value in vars(index).items() if name != "cells"}
    return write_npz(path, arrays | ({} if index.cells is None else vars(index.cells)))


def read_index(path: Path) -> Index:
    """Read an index, or raise where the file is something else."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file; write it with `rankwise retrieval index`")
    with foreign_errors(f"{path}: is not an index of this command, {_ANEW}", ours_too=True):
        file = read_npz(path)
        maker = str(file["network"])
        vectors = file["embeddings"].astype(np.float32, copy=False)
        index = Index(vectors, file["paths"].astype(str), file["labels"].astype(str), maker)
        if "cell" in file:
            cells = Cells(file["centers"], file["cell"], int(file["probes"]))
            cells.check(*vectors.shape)
            index = replace(index, cells=cells)
    if vectors.ndim != 2 or len(index.paths) != len(vectors):
        raise UsageError(f"{path}: is not an index of this command: its arrays do not fit")
    return index


@torch.no_grad()
def search(
    network: EmbeddingNet,
    index: Index,
    image: Tensor,
    augmentations: Augmentations,
    top: int = 10,
    *,
    exact: bool = False,
) -> list[Match]:
    """Return the ``top`` images nearest to an image (3, h, w), uint8, the best first.

    An index with cells is searched in some of them, unless ``exact``; one that another network made
    is refused.
    """
    if index.network != fingerprint(network):
        raise UsageError(f"the index was made by another network than this one; {_ANEW}")
    crop = center_crop([resize(image, augmentations)], augmentations)
    asked: Tensor = network.eval()(crop.to(network.mean.device)).cpu()
    found: Nearest
    if index.cells is None or exact:
        found = nearest(index.embeddings, asked, top)
    else:
        found = ApproximateSearch(index.embeddings, cells=index.cells).search(asked, top)
    return [
        Match(score, str(index.paths[row]), str(index.labels[row]))
        for score, row in zip(found.scores[0].tolist(), found.rows[0].tolist(), strict=True)
        if row >= 0
    ]


def images_in(folder: Path, on_broken: OnBroken | None = None) -> ImageSet:
    """List all images in a folder and its subfolders; the class of each is its folder.

    ``on_broken`` is called with those that cannot be read, which are left out; without it they
    raise.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder")
    paths: list[Path] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in _ENDINGS or not path.is_file():
            continue
        try:
            image_size(path)
        except BrokenImage as broken:
            if on_broken is None:
                raise
            on_broken(broken)
        else:
            paths.append(path)
    if not paths:
        raise UsageError(f"{folder}: there are no images ({' '.join(sorted(_ENDINGS))})")
    classes, labels = np.unique([path.parent.name for path in paths], return_inverse=True)
    names = tuple(classes.tolist())
    return ImageSet(folder.name, torch.from_numpy(labels), names, paths=tuple(paths))
