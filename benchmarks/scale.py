"""Curves of docs/scale.md: what a long list costs in sorts of its scores, one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from benchmarks.pairs import one_thread
from benchmarks.timing import Result, least_processor_seconds
from torch import Tensor

from rankwise.metrics import auroc, average_precision
from rankwise.objectives import AveragePrecision, PairwiseAUC

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
POSITIVE = 0.05


def _step(loss: torch.nn.Module, scores: Tensor, target: Tensor) -> None:
    scores.grad = None
    loss(scores, target).backward()


def growth() -> Iterator[Result]:
    """Metrics, and forward and backward of losses, against ``np.sort`` of the same scores."""
    times: dict[str, list[float]] = {}
    sorts: list[float] = []
    with one_thread():
        for n in SIZES:
            torch.manual_seed(0)
            target = torch.rand(n) < POSITIVE
            scores = (torch.randn(n) + target).requires_grad_()
            array, labels = scores.detach().numpy(), target.numpy()
            calls: dict[str, Callable[[], object]] = {
                "average_precision": partial(average_precision, array, labels),
                "auroc": partial(auroc, array, labels),
                "AveragePrecision, forward + backward": partial(
                    _step, AveragePrecision(), scores, target
                ),
                "PairwiseAUC, forward + backward": partial(_step, PairwiseAUC(), scores, target),
            }
            repeats = 30 if n < 1_000_000 else 5
            every: list[Callable[[], object]] = [partial(np.sort, array), *calls.values()]
            sort, *taken = least_processor_seconds(every, repeats)
            sorts.append(1e3 * sort)
            for name, each in zip(calls, taken, strict=True):
                times.setdefault(name, []).append(1e3 * each)
    for name, ms in times.items():
        detail = {"scores": SIZES, "ms": ms, "np_sort_ms": sorts}
        what = f"{name}, 10⁷ scores, {POSITIVE:.0%} positive"
        yield Result(what, ms[-1] / sorts[-1], "× np.sort", "", detail)


ALL = [growth]
