"""Embeddings of images kept in a file, and the nearest of them to another image."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from rankwise.data.images import ImageSet
from rankwise.errors import UsageError
from rankwise.files import read_npz, write_npz
from rankwise.retrieval import ApproximateSearch, Cells, Nearest, Recall, nearest
from rankwise.tasks.retrieval.augmentation import evaluation_view, resized
from rankwise.tasks.retrieval.evaluate import embed
from rankwise.tasks.retrieval.image_dataset import Pictures
from rankwise.tasks.retrieval.network import EmbeddingNet
from rankwise.vision.settings import Augmentations

__all__ = [
    "Found",
    "Index",
    "fingerprint",
    "make_index",
    "read_index",
    "search",
    "with_cells",
    "write_index",
]

_ANEW = "make it anew with `rankwise retrieval index`"


@dataclass(frozen=True)
class Index:
    """Unit vectors (n, dimension), and where each image is and what it shows."""

    embeddings: NDArray[np.float32]
    paths: NDArray[np.str_]
    labels: NDArray[np.str_]
    network: str  # the fingerprint of what made it: vectors of another mean something else
    cells: Cells | None = None  # for approximate search


@dataclass(frozen=True)
class Found:
    """One of the nearest images."""

    score: float  # cosine
    path: str
    label: str


def fingerprint(network: EmbeddingNet) -> str:
    """A word that changes when a weight of the network does, or a statistic it has learned."""
    seen = hashlib.sha256()
    for name, value in sorted(network.state_dict().items()):
        seen.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        # As bytes, which every dtype has: numpy knows no bfloat16.
        seen.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return seen.hexdigest()[:16]


def make_index(
    network: EmbeddingNet, images: ImageSet, views: Augmentations, *, workers: int = 0
) -> Index:
    """Embed all images of a set; one held in memory is known by its number."""
    embeddings = embed(network, Pictures(images, views), workers=workers)
    names = images.paths or [f"{images.name}#{i}" for i in range(len(images))]
    return Index(
        embeddings.numpy().astype(np.float32),
        np.array([str(name) for name in names]),
        np.array([images.classes[label] for label in images.labels.tolist()]),
        fingerprint(network),
    )


def with_cells(index: Index, recall: float = 0.95) -> tuple[Index, Recall]:
    """The index with cells for approximate search, and what that finds of the nearest."""
    made = ApproximateSearch(index.embeddings, recall=recall)
    return replace(index, cells=made.cells), made.recall()


def write_index(path: Path, index: Index) -> Path:
    """An npz file of plain arrays: nothing in it is ever executed."""
    arrays: dict[str, ArrayLike] = {
        "embeddings": index.embeddings,
        "paths": index.paths,
        "labels": index.labels,
        "network": np.array(index.network),
    }
    if index.cells is not None:
        cells = index.cells
        arrays |= {"centers": cells.centers, "cell": cells.cell, "probes": np.int64(cells.probes)}
    return write_npz(path, arrays)


def read_index(path: Path) -> Index:
    """The index in a file; raise where it is something else."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file; rankwise retrieval index makes it")
    try:
        file = read_npz(path)
        maker = str(file.get("network", ""))
        vectors = file["embeddings"].astype(np.float32, copy=False)
        index = Index(vectors, file["paths"].astype(str), file["labels"].astype(str), maker)
        if "cell" in file:
            cells = Cells(file["centers"], file["cell"], int(file["probes"]))
            cells.check(*vectors.shape)
            index = replace(index, cells=cells)
    except (ValueError, OSError, EOFError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path}: is not an index of this command ({error})") from None
    if vectors.ndim != 2 or len(index.paths) != len(vectors):
        raise UsageError(f"{path}: is not an index of this command: its arrays do not fit")
    if not maker:  # of an earlier version
        raise UsageError(f"{path}: does not say which network made it; {_ANEW}")
    return index


@torch.no_grad()
def search(
    network: EmbeddingNet,
    index: Index,
    picture: Tensor,
    views: Augmentations,
    top: int = 10,
    *,
    exact: bool = False,
) -> list[Found]:
    """The ``top`` images nearest to a picture (3, h, w), uint8, the best first.

    An index with cells is searched in some of them, unless ``exact``; one that another network made
    is refused.
    """
    if index.network != fingerprint(network):
        raise UsageError(f"the index was made by another network than this one; {_ANEW}")
    view = evaluation_view([resized(picture, views)], views)
    asked: Tensor = network.eval()(view.to(network.mean.device)).cpu()
    found: Nearest
    if index.cells is None or exact:
        found = nearest(index.embeddings, asked, top)
    else:
        found = ApproximateSearch(index.embeddings, cells=index.cells).search(asked, top)
    return [
        Found(score, str(index.paths[row]), str(index.labels[row]))
        for score, row in zip(found.scores[0].tolist(), found.rows[0].tolist(), strict=True)
        if row >= 0
    ]
