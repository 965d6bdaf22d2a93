"""Losses of embeddings that part of the leaders use: hierarchical AP and ArcFace."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from benchmarks.timing import Result, least_processor_seconds
from torch.nn.functional import cross_entropy, linear, normalize

from rankwise.baselines import ArcFace
from rankwise.objectives import AveragePrecision, HierarchicalAP, embedding_scores

BATCH, WIDTH, CLASSES = 448, 128, 10_000


def steps() -> Iterator[Result]:
    """A batch of 448 embeddings, four of a class and four classes of a super-class."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    embeddings = torch.randn(BATCH, WIDTH, requires_grad=True)
    classes = torch.arange(BATCH) // 4
    tree = torch.stack([classes // 4, classes], 1)

    def of_lists(loss: Callable[..., torch.Tensor], labels: torch.Tensor) -> Callable[[], None]:
        def call() -> None:
            embeddings.grad = None
            lists = embedding_scores(embeddings, labels)
            loss(lists.scores, lists.target, mask=lists.mask).backward()

        return call

    graded, plain = least_processor_seconds(
        [of_lists(HierarchicalAP(), tree), of_lists(AveragePrecision(), classes)], 5
    )
    detail = {"batch": BATCH, "levels": 2, "ms": 1e3 * graded, "ap_ms": 1e3 * plain}
    name = f"HierarchicalAP, two levels, batch of {BATCH}, forward + backward"
    yield Result(name, graded / plain, "× AveragePrecision of the classes", "", detail)

    loss = ArcFace(CLASSES, WIDTH)
    proxies = torch.randn(CLASSES, WIDTH, requires_grad=True)

    def arcface() -> None:
        embeddings.grad = None
        loss.zero_grad()
        loss(embeddings, classes).backward()

    def softmax() -> None:
        embeddings.grad = proxies.grad = None
        logits = 20 * linear(normalize(embeddings), normalize(proxies))
        cross_entropy(logits, classes).backward()

    ours, bare = least_processor_seconds([arcface, softmax], 5)
    detail = {"batch": BATCH, "classes": CLASSES, "ms": 1e3 * ours, "softmax_ms": 1e3 * bare}
    name = f"ArcFace, batch of {BATCH}, 10⁴ classes, forward + backward"
    yield Result(name, ours / bare, "× torch's cross-entropy of the same cosines", "", detail)


ALL = [steps]
