"""Features of a pretrained network, computed once and kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from rankwise.data import DataError
from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.data.images.image_set import fingerprint
from rankwise.files import write_npz
from rankwise.tasks.retrieval.settings import Network
from rankwise.tasks.retrieval.task import EmbeddingNet
from rankwise.vision.backbones import make_backbone
from rankwise.vision.image_dataset import ImageDataset
from rankwise.vision.settings import Augmentations

_AT_ONCE = 64  # images through the network
_PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Part:
    """Features (n, channels) and the classes from 0."""

    features: Tensor
    labels: Tensor

    @cached_property
    def directions(self) -> Tensor:
        """Principal directions of the features, (directions, channels); computed once."""
        found: Tensor = torch.linalg.svd(self.features, full_matrices=False).Vh
        return found


@dataclass(frozen=True, eq=False)
class Features:
    """The three parts of a data set, standardized by the mean and deviation of the first."""

    train: Part
    validation: Part
    test: Part


def features_of(
    splits: RetrievalSplits, network: Network, views: Augmentations, path: Path | None = None
) -> Features:
    """Those in the file ``path``, or computed and written there; None: computed."""
    sets = {name: getattr(splits, name) for name in _PARTS}
    asked = {name: str(fingerprint(images)) for name, images in sets.items()}
    asked["network"] = f"{network.backbone}, {_weights(network)}, {views.resize}, {views.crop}"
    held = None if path is None or not path.exists() else _read(path, asked)
    if held is None:
        held = {name: _computed(images, network, views) for name, images in sets.items()}
        if path is not None:
            write_npz(path, {**held, **{f"asked_{k}": np.array(v) for k, v in asked.items()}})
    mean, deviation = held["train"].mean(0), held["train"].std(0) + 1e-6
    found = {
        name: Part(torch.from_numpy((held[name] - mean) / deviation), images.labels)
        for name, images in sets.items()
    }
    return Features(**found)


def _weights(network: Network) -> str:
    return "from scratch" if network.weights is None else Path(network.weights).name


@torch.no_grad()
def _computed(images: ImageSet, network: Network, views: Augmentations) -> np.ndarray:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # of a network without weights
        backbone = make_backbone(network.backbone, network.weights, network.options)
    # The mean and deviation of ImageNet's pixels are in the network around the backbone.
    whole = EmbeddingNet(backbone, 1).eval()
    dataset = ImageDataset(images, views)
    blocks = dataset.center_crops(range(len(dataset)), _AT_ONCE)
    return torch.cat([whole.backbone(whole.standardize(block)) for block in blocks]).numpy()


def _read(path: Path, asked: dict[str, str]) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as held:
        for name, value in asked.items():
            before = str(held[f"asked_{name}"])
            if before != value:
                raise DataError(
                    f"out must be a new folder or that of the same study: the features in {path} "
                    f"are of {before}, asked is {value}"
                )
        return {name: held[name] for name in _PARTS}
