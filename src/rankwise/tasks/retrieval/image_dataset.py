"""The images of a set, resized: read when asked for, or all at once where they are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from rankwise.data.images import BrokenImage, ImageSet
from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.augmentation import evaluation_view, resized
from rankwise.vision.settings import Augmentations

__all__ = ["Batch", "Pictures", "batches_from", "some_pixels"]

_LOOKED_AT = 512  # images that mean and deviation of the pixels are taken from


class Batch(NamedTuple):
    """Resized pictures, and the rows they have in their set."""

    pictures: list[Tensor]
    rows: Tensor


class Pictures(Dataset[Tensor]):
    """Resized pictures of a set by number; ``labels`` are its classes counted from 0.

    ``told`` hears of an image that cannot be read, and another of its class stands in for it;
    without it, such an image ends the run with its path.
    """

    def __init__(
        self,
        images: ImageSet,
        views: Augmentations,
        told: Callable[[BrokenImage], None] | None = None,
    ) -> None:
        self.images, self.views, self.told = images, views, told
        self.classes, self.labels = torch.unique(images.labels, return_inverse=True)
        self.held: Tensor | None = None
        if images.pixels is not None:  # they fit as they are, and mostly become smaller
            blocks = images.pixels.split(_LOOKED_AT)
            self.held = torch.cat([resized(b.expand(-1, 3, -1, -1), views) for b in blocks])

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> Tensor:
        if self.held is not None:
            return self.held[i]
        try:
            return resized(self.images.load(i), self.views)
        except BrokenImage as broken:
            if self.told is None:
                raise
            self.told(broken)
            return self._stand_in(i, broken)

    def _stand_in(self, i: int, broken: BrokenImage) -> Tensor:
        others = (self.labels == self.labels[i]).nonzero().flatten().tolist()
        for other in others[others.index(i) + 1 :] + others[: others.index(i)]:
            try:
                return resized(self.images.load(other), self.views)
            except BrokenImage:
                continue
        raise broken

    def blocks(self, rows: Sequence[int], size: int, workers: int = 0) -> Iterator[Tensor]:
        """Views of evaluation of some rows, so many at a time."""
        parts = [list(rows[start : start + size]) for start in range(0, len(rows), size)]
        loader = DataLoader(self, batch_sampler=parts, collate_fn=list, num_workers=workers)
        for pictures in loader:
            yield evaluation_view(pictures, self.views)


class _Numbered(Dataset[tuple[int, Tensor]]):
    def __init__(self, pictures: Pictures) -> None:
        self.pictures = pictures

    def __getitem__(self, i: int) -> tuple[int, Tensor]:
        return i, self.pictures[i]


def batches_from(
    pictures: Pictures, sampler: ClassBatches, step: int, workers: int = 0
) -> Iterator[Batch]:
    """The batches of steps ``step``, ``step`` + 1, … without an end, epoch after epoch."""
    while True:
        epoch, given = divmod(step, len(sampler))
        sampler.load_state_dict({"epoch": epoch, "given": given})
        loader = DataLoader(
            _Numbered(pictures), batch_sampler=sampler, collate_fn=_collated, num_workers=workers
        )
        for batch in loader:
            step += 1
            yield batch


def _collated(items: list[tuple[int, Tensor]]) -> Batch:
    return Batch([picture for _, picture in items], torch.tensor([row for row, _ in items]))


def some_pixels(pictures: Pictures) -> Tensor:
    """Views of evaluation of images evenly spaced over a set, uint8, for their statistics."""
    step = max(1, len(pictures) // _LOOKED_AT)
    rows = range(0, len(pictures), step)
    return torch.cat([(255 * block).round().byte() for block in pictures.blocks(rows, 64)])
