"""Time and peak memory of one training step of a loss, alone in a process; prints JSON.

``python -m benchmarks.objective_step LOSS SIZE`` where SIZE is the batch of a retrieval step (every
item a query, four of a class), or ``list:N`` for one list of N scores. The peers' losses run here
too, under an interpreter that has them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from benchmarks.memory import peak_bytes_of
from torch import Tensor

PER_CLASS, DIMENSION, RATE = 4, 64, 0.05


def ours(name: str, lists: int) -> Callable[..., Tensor]:
    from rankwise.objectives import SOPRC, AveragePrecision, StableAP  # noqa: PLC0415

    cosine: dict[str, Any] = {"score_scale": 1.0}
    if name == "SOPRC":
        return SOPRC(0.01, num_lists=lists, tau_fpr=0.1, tau_tpr=0.001, **cosine)
    if name == "StableAP":
        return StableAP(0.01, num_lists=lists, tau=0.1, **cosine)
    return AveragePrecision(**cosine)


def retrieval_step(name: str, size: int) -> Callable[[], object]:
    """Embeddings → loss → gradient for the peers; from the scores on for us, the larger part."""
    labels = torch.arange(size) // PER_CLASS
    embeddings = torch.nn.functional.normalize(torch.randn(size, DIMENSION), dim=1)
    if name == "pml":
        from pytorch_metric_learning.losses import SmoothAPLoss  # noqa: PLC0415

        loss = SmoothAPLoss()
        leaf = embeddings.requires_grad_()
        return lambda: loss(leaf, labels).backward()
    from rankwise.objectives import embedding_scores  # noqa: PLC0415

    objective = ours(name, int(labels.max()) + 1)
    found = embedding_scores(embeddings, labels)
    scores = found.scores.detach().requires_grad_()

    def step() -> None:
        scores.grad = None
        objective(scores, found.target, mask=found.mask, list_ids=labels).backward()

    return step


def list_step(name: str, size: int) -> Callable[[], object]:
    target = torch.arange(size) < RATE * size
    scores = torch.randn(size, requires_grad=True)
    if name == "libauc":
        from libauc.losses import APLoss  # noqa: PLC0415

        loss = APLoss(data_len=size, device="cpu")
        index = torch.arange(size)
        return lambda: loss(scores.sigmoid(), target.float(), index).backward()
    objective = ours(name, 1)

    def step() -> None:
        scores.grad = None
        objective(scores, target).backward()

    return step


def main(name: str, size: str) -> None:
    torch.manual_seed(0)
    of_list = size.startswith("list:")
    step = list_step(name, int(size[5:])) if of_list else retrieval_step(name, int(size))
    small = list_step(name, 200) if of_list else retrieval_step(name, 16)
    small()  # what libraries load on first use is not the loss's
    peak = peak_bytes_of(step)
    taken: list[float] = []
    while len(taken) < 5 and sum(taken) < 20:
        start = time.perf_counter()
        step()
        taken.append(time.perf_counter() - start)
    print(json.dumps({"seconds": sorted(taken)[len(taken) // 2], "peak": peak}))


if __name__ == "__main__":
    main(*sys.argv[1:])
