"""One small list: processor time of a loss, forward and backward, checks included, one thread."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator

import torch
from benchmarks.timing import Result, measure_in_fresh_process
from torch import Tensor

RATE, STEPS = 0.1, 1_000
LIMITS = {"AveragePrecision": 500, "SOPRC": 900, "StableAP": 900, "NDCG@10": 700}
GROWTH = 1.5  # from 128 to 1 024 items


def small() -> Iterator[Result]:
    """Microseconds of a step at 128 items, and how much more it is at 1 024."""
    for name, limit in LIMITS.items():
        measured = measure_in_fresh_process("benchmarks.small_batches", name)
        step = f"{name}, one list of %s scores, forward + backward"
        yield Result(step % "128", measured["128"], "µs", f"<= {limit}", measured)
        bound = GROWTH * limit
        yield Result(step % "1 024", measured["1024"], "µs", f"<= {bound:g}", measured)
        ratio = measured["128"] / measured["cross_entropy"]
        yield Result(f"{name}, 128 scores, against torch's cross-entropy", ratio, "×", "", measured)


def step_of(name: str, size: int) -> Callable[[], None]:
    from rankwise.objectives import NDCG, SOPRC, AveragePrecision, StableAP  # noqa: PLC0415

    torch.manual_seed(0)
    target = (torch.arange(size) < RATE * size).long()
    scores = torch.randn(size, requires_grad=True)
    loss: Callable[[Tensor, Tensor], Tensor]
    if name == "cross_entropy":
        loss, target = torch.nn.functional.binary_cross_entropy_with_logits, target.float()
    elif name == "NDCG@10":
        loss, target = NDCG(k=10), target * torch.randint(1, 4, (size,))
    elif name == "AveragePrecision":
        loss = AveragePrecision()
    else:
        loss = {"SOPRC": SOPRC, "StableAP": StableAP}[name](RATE)

    def step() -> None:
        scores.grad = None
        loss(scores, target).backward()

    return step


def microseconds(step: Callable[[], None]) -> float:
    """Processor time that a twentieth of the steps stay below: what nothing interrupts."""
    taken = []
    for _ in range(STEPS):
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
    return 1e6 * sorted(taken)[STEPS // 20]


def main(name: str) -> None:
    torch.set_num_threads(1)
    found = {str(size): microseconds(step_of(name, size)) for size in (128, 1024, 2048)}
    found["cross_entropy"] = microseconds(step_of("cross_entropy", 128))
    print(json.dumps(found))


ALL = [small]

if __name__ == "__main__":
    main(*sys.argv[1:])
