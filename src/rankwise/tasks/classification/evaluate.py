"""A classifier judged by how it ranks the images of every class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rankwise.data.images.image_set import LabeledImages
from rankwise.metrics import auroc, average_precision, partial_auroc
from rankwise.tasks.classification.network import Classifier
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.retrieval.evaluate import embed
from rankwise.tasks.retrieval.image_dataset import Pictures
from rankwise.training import Place

__all__ = ["Judged", "as_json", "judge", "judge_scores"]


@dataclass(frozen=True)
class Judged:
    """By class, NaN where the images are all of it or none is; means are over the others.

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


def judge(
    network: Classifier,
    images: LabeledImages,
    settings: Settings,
    *,
    pictures: Pictures | None = None,
    workers: int = 0,
    place: Place | None = None,
) -> Judged:
    """Rank all images of a set by the logit of every class."""
    held = Pictures(images.images, settings.augmentations) if pictures is None else pictures
    logits = embed(network, held, workers=workers, place=place)
    return judge_scores(logits, images.target, images.classes, max_fpr=settings.data.max_fpr)


def judge_scores(
    logits: Tensor, target: Tensor, classes: tuple[str, ...], *, max_fpr: float = 0.05
) -> Judged:
    """Of logits (n, 1) of two classes, where only the second is judged, or (n, classes)."""
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

    def by_class(metric: Any, **options: float) -> tuple[float, ...]:
        found = torch.full((len(classes),), math.nan, dtype=torch.float64)
        if bool(there.any()):
            found[there] = metric(scores[there], hot[there], average="none", **options)
        return tuple(found.tolist())

    return Judged(
        classes,
        tuple(counts.tolist()),
        by_class(average_precision),
        by_class(auroc),
        by_class(partial_auroc, max_fpr=max_fpr),
        top_1,
        hot.shape[1],
        max_fpr,
    )


def as_json(judged: Judged) -> dict[str, Any]:
    """The numbers of a result; what is no number is null."""
    return {
        "map": _known(judged.map),
        "auroc": _known(judged.mean_auroc),
        "partial_auroc": _known(judged.mean_partial_auroc),
        "max_fpr": judged.max_fpr,
        "top_1": _known(judged.top_1),
        "images": judged.images,
        "classes": {
            name: {
                "positives": judged.positives[i],
                "ap": _known(judged.ap[i]),
                "auroc": _known(judged.auroc[i]),
                "partial_auroc": _known(judged.partial_auroc[i]),
            }
            for i, name in enumerate(judged.classes)
        },
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _mean(values: tuple[float, ...]) -> float:
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan
