"""The images of a set, resized, and the batches and outputs of a network on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import Dataset

from rankwise.data.images import BrokenImage, ImageSet
from rankwise.distributed import gather_with_gradient
from rankwise.samplers import EpochBatches
from rankwise.training import Place
from rankwise.vision._loading import load_batches
from rankwise.vision.augmentations import Images, center_crop, resize
from rankwise.vision.network import ImageNetwork
from rankwise.vision.settings import Augmentations

_SAMPLE = 512  # images whose pixels mean and deviation are computed from
_BLOCK = 128  # images per forward pass of an evaluation

OnBroken = Callable[[BrokenImage], None]


class ImageBatch(NamedTuple):
    """Resized images, and their rows in the set."""

    images: Images
    rows: Tensor


class ImageDataset(Dataset[Tensor]):
    """Resized images of a set by row; ``labels`` are its classes counted from 0.

    ``on_broken`` is called with an image that cannot be read, and another of its class replaces it;
    without it, such an image raises.
    """

    def __init__(
        self, images: ImageSet, augmentations: Augmentations, on_broken: OnBroken | None = None
    ) -> None:
        self.images, self.augmentations, self.on_broken = images, augmentations, on_broken
        self.classes, self.labels = torch.unique(images.labels, return_inverse=True)
        self.held: Tensor | None = None
        if images.pixels is not None:  # they fit into memory, and mostly become smaller
            blocks = images.pixels.split(_SAMPLE)
            self.held = torch.cat([resize(b.expand(-1, 3, -1, -1), augmentations) for b in blocks])

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> Tensor:
        if self.held is not None:
            return self.held[i]
        try:
            return self._load(i)
        except BrokenImage as broken:
            if self.on_broken is None:
                raise
            self.on_broken(broken)
            own = (self.labels == self.labels[i]).nonzero().flatten().tolist()
            for other in own[own.index(i) + 1 :] + own[: own.index(i)]:
                with suppress(BrokenImage):
                    return self._load(other)
            raise

    def __getitems__(self, rows: list[int]) -> tuple[list[Tensor], Tensor]:
        """Return the images of some rows, and the rows, as torch's loader asks for a batch."""
        return [self[row] for row in rows], torch.tensor(rows)

    def _load(self, i: int) -> Tensor:
        return resize(self.images.load(i), self.augmentations)

    def center_crops(self, rows: Sequence[int], size: int, workers: int = 0) -> Iterator[Tensor]:
        """Yield center crops of some rows, ``size`` images at a time."""
        parts = [list(rows[start : start + size]) for start in range(0, len(rows), size)]
        for batch in self.loader(parts, workers):
            yield center_crop(list(batch.images), self.augmentations)

    def loader(self, batches: Iterable[list[int]], workers: int) -> Iterator[ImageBatch]:
        """Yield the batches of some rows, loaded by ``workers`` processes."""
        return load_batches(self, batches, ImageBatch._make, workers)

    def batches(self, sampler: EpochBatches, step: int, workers: int = 0) -> Iterator[ImageBatch]:
        """Yield the batches of steps ``step``, ``step`` + 1, … without end, epoch after epoch."""
        while True:
            epoch, given = divmod(step, len(sampler))
            sampler.load_state_dict({"epoch": epoch, "given": given})
            if self.held is not None:
                for rows in sampler:
                    chosen = torch.tensor(rows)
                    yield ImageBatch(self.held[chosen], chosen)
            else:
                yield from self.loader(sampler, workers)
            step = (epoch + 1) * len(sampler)

    def sample_pixels(self) -> Tensor:
        """Return center crops of images evenly spaced over the set, uint8, for statistics."""
        rows = range(0, len(self), max(1, len(self) // _SAMPLE))
        return torch.cat([(255 * block).round().byte() for block in self.center_crops(rows, 64)])


def compute_outputs(
    network: ImageNetwork, dataset: ImageDataset, workers: int = 0, place: Place | None = None
) -> Tensor:
    """Compute the outputs of a network for all images, on the CPU, in evaluation mode."""
    place = place or Place()
    # Padded, so that all processes have as many, and cut off again.
    each = -(-len(dataset) // place.world_size)
    rows = [min(i * place.world_size + place.rank, len(dataset) - 1) for i in range(each)]
    blocks = dataset.center_crops(rows, _BLOCK, workers)
    with network.evaluation():
        outputs = torch.cat([network(block.to(network.mean.device)) for block in blocks])
    if place.world_size == 1:
        return outputs.cpu()
    together = gather_with_gradient(outputs).reshape(place.world_size, each, -1)
    return together.transpose(0, 1).reshape(place.world_size * each, -1)[: len(dataset)].cpu()
