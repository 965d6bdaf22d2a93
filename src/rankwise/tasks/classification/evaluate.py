"""Evaluation of a classifier by how it ranks the images of every class."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rankwise.data.images.image_set import LabeledImages
from rankwise.files import nan_to_none
from rankwise.metrics import auroc, average_precision, partial_auroc
from rankwise.report import Section, Table
from rankwise.report.plots import bar
from rankwise.report.verdict import counted
from rankwise.tasks.classification.settings import Settings
from rankwise.vision.image_dataset import ImageDataset, compute_outputs
from rankwise.vision.network import ImageNetwork

_TAIL = 12  # classes shown


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
    # Of every positive of every class, whether it is among the first of the class, as many as are
    # of it; among tied ones in any order.
    first: tuple[bool, ...] = ()

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
    network: ImageNetwork, images: LabeledImages, settings: Settings, *, workers: int = 0
) -> Evaluation:
    """Rank all images of a set by the logit of every class."""
    logits = compute_outputs(network, ImageDataset(images.images, settings.augmentations), workers)
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

    def by_class(metric: Callable[..., Tensor], **options: float) -> tuple[float, ...]:
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
        tuple(
            found
            for own, is_of, count in zip(scores, hot.bool(), counts.tolist(), strict=True)
            for found in _among_first(own, is_of, count)
        ),
    )


def _among_first(scores: Tensor, is_of: Tensor, count: int) -> list[bool]:
    """Return for each image of a class whether fewer than ``count`` others score as high."""
    below = torch.searchsorted(scores.sort().values, scores[is_of].contiguous())
    found: list[bool] = (len(scores) - below <= count).tolist()
    return found


def as_json(result: Evaluation) -> object:
    """Return the numbers of a result; NaN is null."""
    columns = zip(result.positives, result.ap, result.auroc, result.partial_auroc, strict=True)
    names = ("positives", "ap", "auroc", "partial_auroc")
    by_class = [dict(zip(names, values, strict=True)) for values in columns]
    found = {
        "map": result.map,
        "auroc": result.mean_auroc,
        "partial_auroc": result.mean_partial_auroc,
        "max_fpr": result.max_fpr,
        "top_1": result.top_1,
        "images": result.images,
        "classes": dict(zip(result.classes, by_class, strict=True)),
    }
    return nan_to_none(found)


def results_table(results: Mapping[str, Evaluation]) -> Table:
    """Return one row for each network."""
    rows = [
        (name, *map(_shown, (one.map, one.mean_auroc, one.mean_partial_auroc, one.top_1)))
        for name, one in results.items()
    ]
    first = next(iter(results.values()))
    classes = sum(not math.isnan(value) for value in first.ap)
    mean = "" if classes == 1 else f"; AP and the areas are means over {classes} classes"
    caption = f"{first.images} images{mean}; partial AUROC: false positive rate ≤ {first.max_fpr:g}"
    return Table(("network", "AP", "AUROC", "partial AUROC", "top-1"), rows, f"{caption}.")


def classes_table(result: Evaluation) -> Table:
    """Return one row for each class."""
    values = zip(result.ap, result.auroc, result.partial_auroc, strict=True)
    rows = [
        (name, positives, *map(_shown, row))
        for name, positives, row in zip(result.classes, result.positives, values, strict=True)
    ]
    caption = "A class without test images, or with all of them, has nothing to rank: –."
    return Table(("class", "images", "AP", "AUROC", "partial AUROC"), rows, caption)


def sentence(before: Evaluation, after: Evaluation) -> str:
    """Return how many images are among the first of their class, before and after training."""
    words = "{count} of {total} images are among the first of their own class"
    if len(after.classes) == 1:
        first_of = f"{{count}} of the {{total}} images of {after.classes[0]}"
        words = f"{first_of} are among the first {{total}} of the ranking"
    was, now = (np.array(each.first, dtype=np.float64) for each in (before, after))
    return counted(words, was, now, "before training")


def tail_section(results: Mapping[str, Evaluation], counts: Mapping[str, int]) -> Section:
    """Return the section of the rarest classes: AP before and after training.

    ``counts`` are the training images of each class.
    """
    before, *_, after = results.values()
    known = [n for n, value in enumerate(after.ap) if not math.isnan(value)]
    rare = sorted(known, key=lambda n: counts[after.classes[n]])[:_TAIL]
    rows = [
        (after.classes[n], counts[after.classes[n]], bar(before.ap[n], "base"), bar(after.ap[n]))
        for n in rare
    ]
    words = (
        f"The {len(rare)} classes with the fewest training images"
        if len(known) > _TAIL
        else ("The classes, those with the fewest training images first")
    )
    header = ("class", "training images", "AP before training", "AP after it")
    return Section("The rarest classes", [f"{words}."], tables=[Table(header, rows)])


def report_section(results: Mapping[str, Evaluation]) -> Section:
    """Return the section of the results in the report; the last network is shown by class."""
    return Section(
        "Test images, ranked for every class",
        [
            "Every class ranks all test images by its logit; its own should stand first. An image "
            "is ranked where it belongs if it is among the first of its class, of which as many "
            "are counted as are of it."
        ],
        tables=[results_table(results), classes_table(list(results.values())[-1])],
    )


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def _mean(values: tuple[float, ...]) -> float:
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan
