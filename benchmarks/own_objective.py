"""An objective of a user's own: by its name, and as a step against one of rankwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from benchmarks.timing import Result, least_processor_seconds

import rankwise
from rankwise.objectives import PairwiseAUC, XRisk

SCORES, LOOKUPS = 1_000_000, 200


class LogAUC(XRisk):
    """Mean over the positives of log(1 + mean squared hinge to the negatives)."""

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__(f"squared_hinge({margin})", torch.log1p)


def registered() -> Iterator[Result]:
    """What a registered name costs, and the outer function in Python."""
    torch.set_num_threads(1)
    rankwise.register("benchmark_log_auc", LogAUC, metric="auc")

    def lookups(name: str) -> Callable[[], None]:
        def call() -> None:
            for _ in range(LOOKUPS):
                rankwise.objective(name)

        return call

    own, known = least_processor_seconds(
        [lookups("benchmark_log_auc(margin=2.0)"), lookups("auc(squared_hinge(2.0))")], 5
    )
    detail = {"us": 1e6 * own / LOOKUPS, "auc_us": 1e6 * known / LOOKUPS}
    name = 'rankwise.objective("log_auc(margin=2.0)"), registered by its user'
    yield Result(name, 1e6 * own / LOOKUPS, "µs", "", detail)
    torch.manual_seed(0)
    target = torch.rand(SCORES) < 0.05
    scores = (torch.randn(SCORES) + target).requires_grad_()

    def step(loss: Callable[..., torch.Tensor]) -> Callable[[], None]:
        def call() -> None:
            scores.grad = None
            loss(scores, target).backward()

        return call

    pairwise = PairwiseAUC("squared_hinge(2.0)")
    ours, plain = least_processor_seconds([step(LogAUC(2.0)), step(pairwise)], 5)
    detail = {"scores": SCORES, "ms": 1e3 * ours, "auc_ms": 1e3 * plain}
    name = "XRisk(squared_hinge, log1p), 10⁶ scores, forward + backward"
    yield Result(name, ours / plain, "× PairwiseAUC(squared_hinge)", "", detail)


ALL = [registered]
