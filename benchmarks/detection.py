"""The losses of a detector on 8 images × 20 000 anchors × 20 classes, against a sort of the scores.

Times are CPU time of one thread: the calls take turns on the same scores, and medians are divided.
``python -m benchmarks.detection`` prints the ratios, ``python -m benchmarks.run detection`` also
puts them into README.md.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator

import torch
from benchmarks.timing import Result
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.baselines import RankSort
from rankwise.vision import ClassificationLoss

IMAGES, ANCHORS, CLASSES = 8, 20_000, 20
SIZE = "8 images × 20 000 anchors × 20 classes"


def scores_of(positives: int, apart: float) -> tuple[Tensor, Tensor]:
    """Logits (anchors of all images, classes) and labels; positives score higher by ``apart``."""
    generator = torch.Generator().manual_seed(0)
    places = IMAGES * ANCHORS
    logits = torch.randn(places, CLASSES, generator=generator) - 4.6
    labels = torch.full((places,), -1)
    found = torch.randperm(places, generator=generator)[:positives]
    labels[found] = torch.randint(0, CLASSES, (positives,), generator=generator)
    logits[found, labels[found]] += apart
    return logits, labels


def cpu_seconds(calls: list[Callable[[], object]], repeats: int = 5) -> list[float]:
    """Median CPU times of calls taken in turns, after one warm-up each."""
    torch.set_num_threads(1)
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(repeats + 1):
        for call, taken in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            if turn:
                taken.append(time.process_time() - start)
    return [statistics.median(taken) for taken in times]


def step(loss: Callable[[Tensor, Tensor], Tensor], logits: Tensor, labels: Tensor):  # type: ignore[no-untyped-def]
    """Forward and backward, the gradient thrown away."""
    leaf = logits.clone().requires_grad_()

    def call() -> Tensor:
        (gradient,) = torch.autograd.grad(loss(leaf, labels), leaf)
        return gradient

    return call


def sigmoid_focal(logits: Tensor, labels: Tensor) -> Tensor:
    """The focal loss as detectors write it, α = ¼ and γ = 2, by the number of positives."""
    target = (labels.unsqueeze(1) == torch.arange(CLASSES)).to(logits.dtype)
    p = torch.sigmoid(logits)
    entropy = binary_cross_entropy_with_logits(logits, target, reduction="none")
    right = p * target + (1 - p) * (1 - target)
    weight = 0.25 * target + 0.75 * (1 - target)
    return (weight * (1 - right) ** 2 * entropy).sum() / (labels >= 0).sum()


def published_loop(logits: Tensor, labels: Tensor, delta: float = 1.0) -> Tensor:
    """The gradient of the AP loss as published: one positive after the other.

    Negatives too low for any pair are left out first, and precision is interpolated.
    """
    target = (labels.unsqueeze(1) == torch.arange(CLASSES)).flatten()
    scores = logits.flatten()
    positives = scores[target]
    near = ~target & (scores >= positives.min() - delta)
    negatives = scores[near]
    to_negatives, precision, best = torch.zeros_like(negatives), torch.zeros_like(positives), 0.0
    for i in positives.argsort().tolist():
        right = ((positives - positives[i]) / (2 * delta) + 0.5).clamp_(0, 1).sum() + 0.5
        above = ((negatives - positives[i]) / (2 * delta) + 0.5).clamp_(0, 1)
        rank = right + above.sum()
        above /= rank
        current = float(right / rank)
        if current < best:
            above *= (1 - best) / (1 - current)
        best = max(best, current)
        to_negatives += above
        precision[i] = best
    gradient = torch.zeros_like(scores)
    gradient[near], gradient[target] = to_negatives, precision - 1
    return (gradient / len(positives)).reshape(logits.shape)


def rank_sort_loop(logits: Tensor, soft: Tensor, delta: float = 0.5) -> Tensor:
    """The gradient of the Rank & Sort loss as published: one positive after the other."""
    target, scores = soft.flatten(), logits.flatten()
    positive = target > 0
    positives, quality = scores[positive], target[positive]
    near = ~positive & (scores >= positives.min() - delta)
    negatives = scores[near]
    to_positives, to_negatives = torch.zeros_like(positives), torch.zeros_like(negatives)
    for i in range(len(positives)):
        among = ((positives - positives[i]) / (2 * delta) + 0.5).clamp_(0, 1)
        above = ((negatives - positives[i]) / (2 * delta) + 0.5).clamp_(0, 1)
        false, size = above.sum(), among.sum()
        ranking = false / (size + false)
        better = quality >= quality[i]
        right, wrong = among * better, among * ~better
        sorting = (among * (1 - quality)).sum() / size
        sorting -= (right * (1 - quality)).sum() / right.sum()
        if false > 1e-10:
            to_positives[i] -= ranking
            to_negatives += above * (ranking / false)
        if wrong.sum() > 1e-10:
            to_positives[i] -= sorting
            to_positives += wrong * (sorting / wrong.sum())
    gradient = torch.zeros_like(scores)
    gradient[near], gradient[positive] = to_negatives, to_positives
    return (gradient / len(positives)).reshape(logits.shape)


def against_sort() -> Iterator[Result]:
    """Scores' part of the loss, forward + backward, against torch.sort and the focal loss."""
    for positives in (500, 4_000):
        logits, labels = scores_of(positives, apart=2.0)
        flat = logits.flatten()
        named = {
            "stable_ap": ClassificationLoss("stable_ap"),
            "soprc": ClassificationLoss("soprc"),
            "ap": ClassificationLoss("ap"),
            "error_driven_ap": ClassificationLoss("error_driven_ap"),
        }
        if positives == 500:
            named["stable_ap, a list of every class"] = ClassificationLoss(
                "stable_ap", pooled=False, classes=CLASSES
            )
        calls = [step(loss, logits, labels) for loss in named.values()]
        timed = cpu_seconds(
            [lambda: torch.sort(flat), step(sigmoid_focal, logits, labels), *calls]  # noqa: B023
        )
        sort, focal, *ours = timed
        for name, taken in zip(named, ours, strict=True):
            detail = {"seconds": taken, "sort": sort, "sigmoid focal": focal}
            what = f"{name}, {SIZE}, {positives} positives, forward + backward"
            limited = name in ("stable_ap", "soprc")
            yield Result(what, taken / sort, "× torch.sort", "<= 3" if limited else "", detail)
            if limited:
                yield Result(what, taken / focal, "× sigmoid focal loss", "", detail)


def against_the_loop() -> Iterator[Result]:
    """The error-driven AP loss by the engine and by the published loop over the positives."""
    stages = ((500, 2.0, "early"), (2_000, 2.0, "early"), (2_000, 6.0, "late"))
    for positives, apart, stage in stages:
        logits, labels = scores_of(positives, apart)
        ours = step(ClassificationLoss("error_driven_ap"), logits, labels)
        before = cpu_seconds([ours], 3)[0]
        start = time.process_time()
        expected = published_loop(logits, labels)  # one call is hundreds of passes: timed once
        theirs = time.process_time() - start
        mine = (before + cpu_seconds([ours], 3)[0]) / 2
        torch.testing.assert_close(ours(), expected, rtol=1e-3, atol=1e-8)
        name = f"error_driven_ap, {SIZE}, {positives} positives, {stage} in training"
        # Late, few negatives are near any positive, and the published code leaves out the others.
        limit = ">= 20" if stage == "early" else ""
        detail = {"ours": mine, "loop": theirs, "apart": apart}
        yield Result(f"{name}: loop over positives / ours", theirs / mine, "×", limit, detail)


def rank_sort_against_the_loop() -> Iterator[Result]:
    """Rank & Sort loss by sorted sums, which is its bucketed form, and by the published loop."""
    for positives in (500, 2_000):
        logits, labels = scores_of(positives, 2.0)
        found = (labels >= 0).nonzero().squeeze(1)
        soft = torch.zeros_like(logits)
        drawn = torch.rand(positives, generator=torch.Generator().manual_seed(1))
        soft[found, labels[found]] = drawn.clamp_min(0.01)
        ours = step(lambda x, y: RankSort()(x.flatten(), y.flatten()), logits, soft)
        mine = cpu_seconds([ours], 3)[0]
        start = time.process_time()
        expected = rank_sort_loop(logits, soft)
        theirs = time.process_time() - start
        torch.testing.assert_close(ours(), expected, rtol=1e-3, atol=1e-8)
        name = f"rank_sort, {SIZE}, {positives} positives: loop over positives / ours"
        yield Result(name, theirs / mine, "×", "", {"ours": mine, "loop": theirs})


ALL = [against_sort, against_the_loop, rank_sort_against_the_loop]


if __name__ == "__main__":
    found = [result for measurement in ALL for result in measurement()]
    for result in found:
        print(f"{result.name}: {result.value:.3g} {result.unit} {result.limit}")
    sys.exit(any(result.holds is False for result in found))
