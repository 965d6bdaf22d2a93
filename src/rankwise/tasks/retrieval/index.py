"""Embeddings of images kept in a file, and the nearest of them to another image."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.data.images import ImageSet
from rankwise.report import write_whole
from rankwise.tasks.retrieval.augmentation import evaluation_view, resized
from rankwise.tasks.retrieval.judging import embed
from rankwise.tasks.retrieval.network import EmbeddingNet
from rankwise.tasks.retrieval.pictures import Pictures
from rankwise.tasks.retrieval.settings import UsageError, Views

__all__ = ["Found", "Index", "make_index", "read_index", "search", "write_index"]


@dataclass(frozen=True)
class Index:
    """Unit vectors (n, dimension), and where each image is and what it shows."""

    embeddings: NDArray[np.float32]
    paths: NDArray[np.str_]
    labels: NDArray[np.str_]


@dataclass(frozen=True)
class Found:
    """One of the nearest images."""

    score: float  # cosine
    path: str
    label: str


def make_index(network: EmbeddingNet, images: ImageSet, views: Views, *, workers: int = 0) -> Index:
    """Embed all images of a set; one held in memory is known by its number."""
    embeddings = embed(network, Pictures(images, views), workers=workers)
    names = images.paths or [f"{images.name}#{i}" for i in range(len(images))]
    return Index(
        embeddings.numpy().astype(np.float32),
        np.array([str(name) for name in names]),
        np.array([images.classes[label] for label in images.labels.tolist()]),
    )


def write_index(path: Path, index: Index) -> Path:
    """An npz file of plain arrays: nothing in it is ever executed."""
    buffer = io.BytesIO()
    np.savez(buffer, embeddings=index.embeddings, paths=index.paths, labels=index.labels)
    return write_whole(path, buffer.getvalue())


def read_index(path: Path) -> Index:
    """The index in a file; raise where it is something else."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file; rankwise retrieval index makes it")
    try:
        with np.load(path, allow_pickle=False) as file:
            found: Any = Index(file["embeddings"], file["paths"], file["labels"])
    except (ValueError, OSError, EOFError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path}: is not an index of this command ({error})") from None
    if found.embeddings.ndim != 2 or len(found.paths) != len(found.embeddings):
        raise UsageError(f"{path}: is not an index of this command: its arrays do not fit")
    index: Index = found
    return index


@torch.no_grad()
def search(
    network: EmbeddingNet, index: Index, picture: Tensor, views: Views, top: int = 10
) -> list[Found]:
    """The ``top`` images nearest to a picture (3, h, w), uint8, the best first."""
    view = evaluation_view([resized(picture, views)], views)
    asked: Tensor = network.eval()(view.to(network.mean.device))[0].cpu()
    if index.embeddings.shape[1] != len(asked):
        raise UsageError(
            f"the index has embeddings of {index.embeddings.shape[1]} dimensions, the network "
            f"{len(asked)}: make the index again with this run"
        )
    scores = torch.from_numpy(index.embeddings) @ asked
    best = scores.topk(min(top, len(scores)))
    return [
        Found(score, str(index.paths[row]), str(index.labels[row]))
        for score, row in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]
