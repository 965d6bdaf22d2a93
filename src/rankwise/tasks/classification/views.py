"""Views of training by one gather from all pictures, where they are only cut and flipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from rankwise.samplers import EpochBatches
from rankwise.tasks.retrieval.augmentation import make_views
from rankwise.tasks.retrieval.image_dataset import Batch, Pictures, batches_from
from rankwise.vision.settings import Augmentations

__all__ = ["make_class_views", "quick_batches"]


def make_class_views(
    views: Augmentations,
) -> Callable[[Sequence[Tensor] | Tensor, torch.device], Tensor]:
    """A function of resized pictures, uint8, that gives (n, 3, crop, crop) in [0, 1], on a device.

    Small pictures cost more to prepare than to learn from when every change is a call of its own.
    What is more than a flip and a cut is left to retrieval's views.
    """
    if not views.square or views.rotation or views.resized_crop:
        usual = make_views(views)
        return lambda pictures, device: usual(list(pictures), device)

    @torch.no_grad()
    def view(pictures: Sequence[Tensor] | Tensor, device: torch.device) -> Tensor:
        batch = pictures if isinstance(pictures, Tensor) else torch.stack(list(pictures))
        count, room = len(batch), views.resize - views.crop
        inside = torch.arange(views.crop)
        across = inside.expand(count, -1)
        if views.flip:
            across = torch.where(torch.rand(count, 1) < 0.5, across.flip(1), across)
        down = inside + torch.randint(room + 1, (count, 1))
        across = across + torch.randint(room + 1, (count, 1))
        places = torch.arange(count)[:, None, None], down[:, :, None], across[:, None, :]
        cut = batch.permute(0, 2, 3, 1)[places]  # colors last, as convolutions like it
        return cut.permute(0, 3, 1, 2).to(device).float() / 255

    return view


def quick_batches(
    pictures: Pictures, sampler: EpochBatches, step: int, workers: int
) -> Iterator[Batch]:
    """Batches from a step on without an end; pictures in memory are taken from there at once."""
    if pictures.held is None:
        yield from batches_from(pictures, sampler, step, workers)  # type: ignore[arg-type]
        return
    while True:
        epoch, given = divmod(step, len(sampler))
        sampler.load_state_dict({"epoch": epoch, "given": given})
        for rows in sampler:
            step += 1
            chosen = torch.tensor(rows)
            yield Batch(pictures.held[chosen], chosen)  # type: ignore[arg-type]
