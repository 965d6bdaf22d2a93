"""Detections of a network: boxes selected from the scores of the anchors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.data.detection import DetectionSet
from rankwise.tasks.detection.dataset import (
    Cache,
    DetectionDataset,
    FeatureCache,
    can_cache,
    evaluation_images,
)
from rankwise.tasks.detection.network import Dense, Detector
from rankwise.tasks.detection.settings import Augmentations, Selection, Settings
from rankwise.vision.boxes import decode_boxes, nms

_BLOCK = 16  # images


@dataclass(frozen=True)
class Detections:
    """Boxes detected in one image, in its own pixels, best first; scores are logits."""

    boxes: Tensor  # (n, 4)
    scores: Tensor  # (n,)
    labels: Tensor  # (n,)

    def __len__(self) -> int:
        return len(self.scores)

    def above(self, least: float | Sequence[float]) -> Detections:
        """Return the boxes with a score of at least this logit, or that of their class."""
        lowest = torch.as_tensor(least)
        kept = self.scores >= (lowest[self.labels] if lowest.dim() else lowest)
        return Detections(self.boxes[kept], self.scores[kept], self.labels[kept])


@torch.no_grad()
def select(
    dense: Dense, sizes: Sequence[tuple[int, int]], selection: Selection
) -> list[Detections]:
    """Select the boxes of every image: the top scores, clipped at its edges, after suppression.

    ``sizes`` are (width, height) of the images in the pixels that the network saw. Scores stay
    logits: as probabilities in single precision those above 17 would all be 1, and tied.
    """
    results = []
    for (logits, regression, anchors), (width, height) in zip(dense.by_image(), sizes, strict=True):
        scores, places, labels = _highest(logits, selection)
        boxes = decode_boxes(anchors[places], regression[places])
        edge = boxes.new_tensor([width, height, width, height])
        boxes = torch.minimum(boxes.clamp_min(0), edge)
        real = (boxes[:, 2:] > boxes[:, :2]).all(1)
        boxes, scores, labels = boxes[real], scores[real], labels[real]
        kept = _first(nms(boxes, scores, labels, selection.max_iou), labels, selection)
        results.append(Detections(boxes[kept].cpu(), scores[kept].cpu(), labels[kept].cpu()))
    return results


def _highest(logits: Tensor, selection: Selection) -> tuple[Tensor, Tensor, Tensor]:
    """Return scores, anchors and labels of the top scores (A, C), of all or of each class."""
    if selection.per_class:
        best = logits.topk(min(selection.candidates, len(logits)), dim=0)
        labels = torch.arange(logits.shape[1], device=logits.device).expand_as(best.indices)
        return best.values.flatten(), best.indices.flatten(), labels.flatten()
    flat = logits.flatten()
    top = flat.topk(min(selection.candidates, len(flat)))
    return top.values, top.indices // logits.shape[1], top.indices % logits.shape[1]


def _first(kept: Tensor, labels: Tensor, selection: Selection) -> Tensor:
    """Return the first of these, or the first of each class."""
    if not selection.per_class:
        return kept[: selection.maximum]
    before = torch.zeros_like(kept)
    for label in labels.unique():
        own = labels[kept] == label
        before[own] = torch.arange(int(own.sum()), device=kept.device)
    return kept[before < selection.maximum]


def detect_all(
    network: Detector, images: DetectionSet, settings: Settings, *, cache: Cache | None = None
) -> list[Detections]:
    """Detect objects in every image of a set; ``cache`` has features of a frozen backbone."""
    how, selection = settings.augmentations, settings.selection
    cached = cache is not None and how.test_side is None and can_cache(network, how)
    features = FeatureCache(DetectionDataset(images, how), network, cache) if cached else None
    results: list[Detections] = []
    for start in range(0, len(images), _BLOCK):
        rows = list(range(start, min(start + _BLOCK, len(images))))
        if features is None:
            results += detect(network, [images.load(i) for i in rows], how, selection)
            continue
        sizes = [images.sizes[i] for i in rows]
        stretches = [(how.width / width, how.height / height) for width, height in sizes]
        with network.evaluation():
            results += _in_pixels(network(features.stacked(rows)), sizes, stretches, selection)
    return results


def detect(
    network: Detector, images: Sequence[Tensor], how: Augmentations, selection: Selection
) -> list[Detections]:
    """Detect objects in images, uint8 (3, h, w) of any size; boxes are in their pixels."""
    results: list[Detections] = []
    shown, sizes = evaluation_images(images, how), [(i.shape[2], i.shape[1]) for i in images]
    block = _BLOCK if how.test_side is None else 1
    with network.evaluation():
        for start in range(0, len(shown), block):
            some = slice(start, start + block)
            pixels = torch.stack([view.image for view in shown[some]]).to(network.mean.device)
            stretches = [view.stretch for view in shown[some]]
            results += _in_pixels(network(pixels), sizes[some], stretches, selection)
    return results


def _in_pixels(
    dense: Dense,
    sizes: Sequence[tuple[int, int]],
    stretches: Sequence[tuple[float, float]],
    selection: Selection,
) -> list[Detections]:
    """Return the boxes of images of these sizes, which the network saw with these factors."""
    seen = [
        (round(width * across), round(height * down))
        for (width, height), (across, down) in zip(sizes, stretches, strict=True)
    ]
    return [
        Detections(one.boxes / one.boxes.new_tensor(stretch).repeat(2), one.scores, one.labels)
        for one, stretch in zip(select(dense, seen, selection), stretches, strict=True)
    ]
