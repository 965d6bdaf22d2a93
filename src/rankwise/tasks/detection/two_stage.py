"""A second stage, as in Faster R-CNN: proposals, their features by RoIAlign, a head of regions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, grid_sample

from rankwise.tasks.detection.inference import select
from rankwise.tasks.detection.network import Dense, Detector
from rankwise.tasks.detection.settings import Network, Selection
from rankwise.vision import DetectionLoss, DetectionLosses
from rankwise.vision.anchors import Anchors, Target
from rankwise.vision.boxes import box_area, iou

_SIZE, _SAMPLES = 7, 2  # bins of a region across and down; samples of a bin across and down
_OVERLAP = 0.5  # IoU from which a region has the class of an object
_PROPOSAL_IOU = 0.7  # of two proposals, above which the worse one is dropped


@dataclass(frozen=True)
class Regions(Dense):
    """Output of two stages: that of the first, and the proposals of all images with theirs."""

    images: Tensor  # (N,) which image a proposal is of
    proposals: Tensor  # (N, 4) in pixels
    scores: Tensor  # (N, C) of the classes
    offsets: Tensor  # (N, 4): dx, dy, dw, dh from the proposal

    def by_image(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield the scores of each image, its differences, and the proposals these are from."""
        for image in range(len(self.logits)):
            own = self.images == image
            yield self.scores[own], self.offsets[own], self.proposals[own]


def roi_align(
    maps: Tensor,
    boxes: Tensor,
    images: Tensor,
    stride: float,
    *,
    size: int = _SIZE,
    samples: int = _SAMPLES,
) -> Tensor:
    """Pool boxes from feature maps by bilinear samples, without rounding their edges.

    Every box is cut into ``size``² bins, and a bin is the mean of ``samples``² values of the map.
    Outside the map they are those of its nearest cell.

    Args:
        maps: (B, channels, h, w); the center of the cell (0, 0) is at ½ stride.
        boxes: (n, 4) in pixels.
        images: (n,), the map of each box.
        stride: Pixels between two cells.
        size: Bins across and down.
        samples: Samples of a bin across and down.

    Returns:
        (n, channels, size, size).

    Reference:
        He et al. 2017, "Mask R-CNN", section 3.
    """
    count, channels, height, width = maps.shape
    steps = (torch.arange(size * samples, device=maps.device) + 0.5) / (size * samples)
    low, high = boxes[:, :2, None] / stride, boxes[:, 2:, None] / stride
    x, y = (low + steps * (high - low)).unbind(1)  # in cells
    # All maps as one tall map: between the centers of its own cells a box sees no other image.
    x = x.clamp(0.5, width - 0.5) / width
    y = (y.clamp(0.5, height - 0.5) + images.unsqueeze(1) * height) / (count * height)
    grid = torch.stack(torch.broadcast_tensors(x.unsqueeze(1), y.unsqueeze(2)), -1)
    tall = maps.transpose(0, 1).reshape(1, channels, count * height, width)
    values = grid_sample(tall, 2 * grid.reshape(1, -1, len(steps), 2) - 1, align_corners=False)
    bins = avg_pool2d(values.reshape(channels, -1, len(steps), len(steps)), samples)
    return bins.transpose(0, 1)


class RegionHead(nn.Module):
    """Two layers on the pooled features of a region, then a score of each class and its box."""

    def __init__(self, channels: int, width: int, classes: int) -> None:
        super().__init__()
        self.shared = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels * _SIZE**2, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
        )
        self.scores, self.offsets = nn.Linear(width, classes), nn.Linear(width, 4)
        for layer in (self.scores, self.offsets):
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)

    def forward(self, pooled: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores (n, C) and differences (n, 4) of pooled regions."""
        found = self.shared(pooled)
        return self.scores(found).float(), self.offsets(found).float()


class TwoStageDetector(Detector):
    """A detector of one class, "object", whose best boxes go to a head of regions."""

    def __init__(self, settings: Network, classes: int, *, rare: bool = True) -> None:
        super().__init__(settings, 1, rare=rare)
        self.regions = RegionHead(settings.width, settings.region_width, classes)

    def forward(
        self,
        images: Tensor | list[Tensor],
        known: Sequence[Tensor] = (),
        at: Dense | None = None,
    ) -> Regions:
        """Return the output for images or their maps, with the proposals of ``at`` if it is given.

        Boxes that are ``known`` are proposals, too.
        """
        maps = self.levels(images)
        first = self.dense(maps)
        if isinstance(at, Regions):
            where, proposals = at.images, at.proposals
        else:
            where, proposals = self._proposed(first, maps, known)
        scores, offsets = self.regions(self._pooled(maps, proposals, where))
        return Regions(
            **vars(first), images=where, proposals=proposals, scores=scores, offsets=offsets
        )

    def _proposed(
        self, first: Dense, maps: list[Tensor], known: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Return the proposals of all images, with the images they are of."""
        stride = self.settings.levels[0]
        size = (maps[0].shape[-1] * stride, maps[0].shape[-2] * stride)
        number = self.settings.proposals
        chosen = Selection(candidates=4 * number, max_iou=_PROPOSAL_IOU, maximum=number)
        boxes = [
            one.boxes.to(maps[0].device) for one in select(first, [size] * len(maps[0]), chosen)
        ]
        if known:
            boxes = [torch.cat(pair) for pair in zip(boxes, known, strict=True)]
        counts = torch.tensor([len(one) for one in boxes], device=maps[0].device)
        where = torch.arange(len(boxes), device=maps[0].device).repeat_interleave(counts)
        return where, torch.cat(boxes)

    def _pooled(self, maps: list[Tensor], boxes: Tensor, images: Tensor) -> Tensor:
        """Pool every box from the level whose anchors are about as large (Lin et al. 2017)."""
        levels, scale = self.settings.levels, self.settings.anchor_scale
        ratio = box_area(boxes).sqrt().clamp_min(1) / (scale * levels[0])
        level = ratio.log2().round().clamp(0, len(levels) - 1)
        found = maps[0].new_zeros(len(boxes), maps[0].shape[1], _SIZE, _SIZE, dtype=torch.float32)
        for number, one in enumerate(maps):
            own = (level == number).nonzero().squeeze(1)
            if len(own):
                part = roi_align(one.float(), boxes[own], images[own], levels[number])
                found = found.index_copy(0, own, part)
        return found


def make_detector(settings: Network, classes: int, *, rare: bool = True) -> Detector:
    """Make the detector of the settings, of one or of two stages."""
    kind = Detector if settings.stages == 1 else TwoStageDetector
    return kind(settings, classes, rare=rare)


def assign_by_iou(anchors: Anchors, boxes: Tensor) -> Tensor:
    """Return the box that each region overlaps most; −1 where that IoU is below ½."""
    best, index = iou(anchors.boxes, boxes).max(1)
    return torch.where(best >= _OVERLAP, index, -1)


class TwoStageLoss(nn.Module):
    """Sum of the losses of both stages: objects and background, then classes of the regions."""

    def __init__(self, first: DetectionLoss, regions: DetectionLoss) -> None:
        super().__init__()
        self.first, self.regions = first, regions

    def forward(
        self, found: Regions, targets: Sequence[Target], previous: Regions | None = None
    ) -> DetectionLosses:
        """Return the loss of a batch of images and its parts, the sums of both stages.

        ``previous`` has the scores of the same regions by the previous parameters, of which a stage
        takes its own if its loss uses them.
        """
        earlier = before = None
        if previous is not None and self.first.uses_previous_logits:
            earlier = previous.logits
        if previous is not None and self.regions.uses_previous_logits:
            before = previous.scores[None]
        objects = [{**one, "labels": torch.zeros_like(one["labels"])} for one in targets]
        dense = found.logits, found.regression, found.anchors
        first = self.first(*dense, objects, previous_logits=earlier)
        # The images side by side are one wide image, whose regions are the anchors.
        width = 1 + found.proposals[:, 2].max() if len(found.proposals) else 1
        aside = torch.tensor([1.0, 0, 1, 0], device=found.proposals.device) * width
        proposals = found.proposals + found.images.unsqueeze(1) * aside
        boxes = [one["boxes"].to(aside) + i * aside for i, one in enumerate(targets)]
        wide = {
            "boxes": torch.cat(boxes),
            "labels": torch.cat([one["labels"] for one in targets]),
        }
        anchors = Anchors(proposals, (len(proposals),))
        wider = found.scores[None], found.offsets[None], anchors
        second = self.regions(*wider, [wide], previous_logits=before)
        return DetectionLosses(
            *(
                getattr(first, name) + getattr(second, name)
                for name in ("total", "classification", "boxes", "bias", "positives")
            )
        )
