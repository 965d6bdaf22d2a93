"""A list that is spread over two processes, against the same list in one process.

``python -m benchmarks.processes OBJECTIVE RATE`` measures one objective and prints JSON. Times are
those of the processor, of the busier process: they do not depend on what else the machine does.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.queues import SimpleQueue
from unittest.mock import patch

import torch
import torch.distributed as dist
from benchmarks.timing import Result, measure_in_fresh_process

from rankwise.distributed import AcrossProcesses
from rankwise.objectives import NDCG, SOPRC, AveragePrecision, Objective, PairwiseAUC, StableAP

ITEMS, STEPS = 1_000_000, 4
OBJECTIVES: dict[str, Callable[[], Objective]] = {
    "PairwiseAUC": PairwiseAUC,
    "AveragePrecision": AveragePrecision,
    "SOPRC": lambda: SOPRC(0.05),
    "StableAP": lambda: StableAP(0.05),
    "NDCG": NDCG,
}


def spread_list() -> Iterator[Result]:
    """Time of a step of two processes over that of one, without numba and with it.

    Compiled sums of a list of this size take no longer than the messages: they have no limit.
    """
    for compiled, engine in (("0", "torch"), ("1", "numba")):
        for name, rate in (*((name, 0.05) for name in OBJECTIVES), ("PairwiseAUC", 0.5)):
            with patch.dict(os.environ, RANKWISE_COMPILED=compiled):
                found = measure_in_fresh_process("benchmarks.processes", name, str(rate))
            what = f"{name}, {engine}, one list of 10⁶ with {rate:.0%} positives"
            has_limit = engine == "torch" and rate == 0.05 and name != "NDCG"
            yield Result(
                f"{what}: two processes over one",
                found["two"] / found["one"],
                "× the processor time",
                "<= 0.8" if has_limit else "",
                found,
            )


def work(rank: int, world: int, store: str, times: SimpleQueue[float]) -> None:
    """Put the shortest time of a step of this process."""
    name, rate = sys.argv[1], float(sys.argv[2])
    torch.set_num_threads(1)
    if world > 1:
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    rng = torch.Generator().manual_seed(0)
    scores, target = torch.randn(ITEMS, generator=rng), torch.rand(ITEMS, generator=rng) < rate
    own = scores.chunk(world)[rank].clone().requires_grad_()
    loss, taken = AcrossProcesses(OBJECTIVES[name]()), []
    for _ in range(STEPS):
        own.grad = None
        start = time.process_time()
        loss(own, target.chunk(world)[rank]).backward()
        taken.append(time.process_time() - start)
    times.put(min(taken))
    if world > 1:
        dist.destroy_process_group()


def seconds_of(world: int) -> float:
    context = multiprocessing.get_context("fork")
    times: SimpleQueue[float] = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        store = f"file://{folder}/store"
        processes = [
            context.Process(target=work, args=(rank, world, store, times)) for rank in range(world)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    return max(times.get() for _ in processes)


ALL = [spread_list]

if __name__ == "__main__":
    print(json.dumps({"one": seconds_of(1), "two": seconds_of(2)}))
