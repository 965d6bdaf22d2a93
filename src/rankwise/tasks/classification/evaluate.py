"""Evaluation of a classifier by how it ranks the images of every class."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.images.image_set import LabeledImages
from rankwise.metrics import auroc, average_precision, partial_auroc
from rankwise.report import write_json
from rankwise.tasks.classification.network import Classifier
from rankwise.tasks.classification.settings import Settings
from rankwise.training import Place
from rankwise.vision.image_dataset import ImageDataset, compute_outputs

Metric = Callable[..., Tensor]


@dataclass(frozen=True)
class Evaluation:
    """Metrics by class, NaN where all images or none are of it; means are over the others.

    ``top_1`` is the share of images whose highest logit is that of their class, NaN where an image
    may have several labels.
    """

    classes: tuple[str, ...]
    positives: tuple[int, ...]
    ap: tuple[float, ...]
    auroc: tuple[float, ...]
    partial_auroc: tuple[float, ...]
    top_1: float
    images: int
    max_fpr: float

    @property
    def map(self) -> float:
        """Mean average precision over the classes."""
        return _mean(self.ap)

    @property
    def mean_auroc(self) -> float:
        """Mean area under the ROC curve over the classes."""
        return _mean(self.auroc)

    @property
    def mean_partial_auroc(self) -> float:
        """Mean area under the ROC curve up to ``max_fpr``, as a share of what is possible."""
        return _mean(self.partial_auroc)


def evaluate(
    network: Classifier,
    images: LabeledImages,
    settings: Settings,
    *,
    dataset: ImageDataset | None = None,
    workers: int = 0,
    place: Place | None = None,
) -> Evaluation:
    """Rank all images of a set by the logit of every class."""
    if dataset is None:
        dataset = ImageDataset(images.images, settings.augmentations)
    logits = compute_outputs(network, dataset, workers=workers, place=place)
    return evaluate_scores(logits, images.target, images.classes, max_fpr=settings.data.max_fpr)


def evaluate_scores(
    logits: Tensor, target: Tensor, classes: tuple[str, ...], *, max_fpr: float = 0.05
) -> Evaluation:
    """Evaluate logits (n, 1) of two classes, by the second, or (n, classes)."""
    if logits.shape[1] == 1:
        top_1 = ((logits.squeeze(1) > 0).long() == target).double().mean().item()
        scores, hot, classes = logits.T, target.unsqueeze(0), classes[1:]
    else:
        several = target.ndim == 2
        scores = logits.T.contiguous()
        hot = target.T if several else torch.nn.functional.one_hot(target, len(classes)).T
        top_1 = math.nan if several else (logits.argmax(1) == target).double().mean().item()
    counts = hot.sum(1)
    there = (counts > 0) & (counts < hot.shape[1])

    def by_class(metric: Metric, **options: float) -> tuple[float, ...]:
        values = torch.full((len(classes),), math.nan, dtype=torch.float64)
        if bool(there.any()):
            values[there] = metric(scores[there], hot[there], average="none", **options)
        return tuple(values.tolist())

    return Evaluation(
        classes,
        tuple(counts.tolist()),
        by_class(average_precision),
        by_class(auroc),
        by_class(partial_auroc, max_fpr=max_fpr),
        top_1,
        hot.shape[1],
        max_fpr,
    )


def as_json(result: Evaluation) -> dict[str, object]:
    """Return the numbers of a result; NaN is null."""
    return {
        "map": _or_null(result.map),
        "auroc": _or_null(result.mean_auroc),
        "partial_auroc": _or_null(result.mean_partial_auroc),
        "max_fpr": result.max_fpr,
        "top_1": _or_null(result.top_1),
        "images": result.images,
        "classes": {
            name: {
                "positives": result.positives[i],
                "ap": _or_null(result.ap[i]),
                "auroc": _or_null(result.auroc[i]),
                "partial_auroc": _or_null(result.partial_auroc[i]),
            }
            for i, name in enumerate(result.classes)
        },
    }


def write_results(out: Path, results: Mapping[str, Evaluation]) -> None:
    """Write ``results.json``: by network."""
    write_json(out / "results.json", {name: as_json(one) for name, one in results.items()})


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else value


def _mean(values: tuple[float, ...]) -> float:
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan
