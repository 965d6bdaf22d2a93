"""Losses of the top of a list against ``torch.sort`` of the same scores."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from benchmarks.timing import Result, seconds_side_by_side

from rankwise.objectives import (
    NDCG,
    PUAUC,
    AveragePrecision,
    FPRAtTPR,
    Objective,
    PApAtK,
    PrecisionAtK,
    PrecisionAtRecall,
    PUAveragePrecision,
    RecallAtPrecision,
    TPRAtFPR,
)

ITEMS, RATE, K = 1_000_000, 0.05, 1_000


def one_list() -> Iterator[Result]:
    """A step of each, a twentieth of the items positive."""
    torch.manual_seed(0)
    target = torch.arange(ITEMS) < RATE * ITEMS
    scores = (torch.randn(ITEMS) + target).requires_grad_()
    losses: dict[str, Objective] = {
        "PrecisionAtK(1000)": PrecisionAtK(K),
        "PrecisionAtK(1000, 'ramp')": PrecisionAtK(K, "ramp"),
        "PrecisionAtK(1000, 'soft')": PrecisionAtK(K, "soft"),
        "PApAtK(1000)": PApAtK(K),
        "PApAtK(1000, 'soft')": PApAtK(K, "soft"),
        "NDCG(1000)": NDCG(K),
        "NDCG(1000, softness=.3)": NDCG(K, softness=0.3),
        "AveragePrecision(k=1000, softness=.1)": AveragePrecision(k=K, softness=0.1),
        "TPRAtFPR(.001)": TPRAtFPR(0.001),
        "FPRAtTPR(.5)": FPRAtTPR(0.5),
        "PrecisionAtRecall(.5)": PrecisionAtRecall(0.5),
        "RecallAtPrecision(.5)": RecallAtPrecision(0.5),
        "PUAUC(.1)": PUAUC(0.1),
        "PUAUC(.1, 'squared_hinge')": PUAUC(0.1, "squared_hinge"),
        "PUAveragePrecision(.1)": PUAveragePrecision(0.1),
    }
    for name, loss in losses.items():

        def step(loss: Objective = loss) -> None:
            scores.grad = None
            loss(scores, target).backward()

        ours, sort = seconds_side_by_side([step, lambda: torch.sort(scores.detach())], 5)
        detail = {"scores": ITEMS, "positives": RATE, "ms": 1e3 * ours, "sort_ms": 1e3 * sort}
        yield Result(
            f"{name}, 10⁶ scores, forward + backward", ours / sort, "× torch.sort", "", detail
        )


ALL = [one_list]
