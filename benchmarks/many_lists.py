"""Many short lists: flat groups against rectangles, NDCG of a million lists without numba.

Processor time, the least of several runs taken in turns: a busy machine changes it least.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from unittest.mock import patch

import torch
from benchmarks.memory import peak_bytes_of
from benchmarks.pairs import forward_backward, one_thread
from benchmarks.timing import Result, least_processor_seconds, measure_in_fresh_process

from rankwise.pairs import OneSidedHuber, Sigmoid
from rankwise.pairs.sums import Method

LISTS = 100_000


def ragged() -> Iterator[Result]:
    """10⁵ lists of 10 scores, flat with group ids, against rectangles of the same sizes."""
    torch.manual_seed(0)
    upper, lower = (torch.randn(LISTS, 5) for _ in range(2))
    equal = torch.full((LISTS,), 5)
    uneven = torch.randint(3, 8, (LISTS,))
    uneven = uneven.where(uneven.cumsum(0) <= 5 * LISTS, 0)
    uneven[-1] += 5 * LISTS - int(uneven.sum())  # the same number of scores in all
    shuffled = torch.randperm(LISTS)
    forms = {
        "lists of 10": torch.arange(LISTS).repeat_interleave(equal),
        "lists of 6 to 14": torch.arange(LISTS).repeat_interleave(uneven),
        "lists of 10 in random order": shuffled.repeat(5),
    }
    settings: tuple[tuple[Method, str], ...] = (("auto", "1"), ("auto", "0"), ("exponential", "0"))
    for method, compiled in settings:
        engine = f"{method}, {'with numba' if compiled == '1' else 'by torch'}"
        with one_thread(), patch.dict(os.environ, RANKWISE_COMPILED=compiled):
            for surrogate in (OneSidedHuber(0.1), Sigmoid(10.0)):
                calls = [forward_backward(surrogate, upper, lower, method)] + [
                    forward_backward(
                        surrogate,
                        upper.reshape(-1),
                        lower.reshape(-1),
                        method,
                        upper_groups=ids,
                        lower_groups=ids,
                    )
                    for ids in forms.values()
                ]
                rectangles, *flat = least_processor_seconds(calls, 7)
                for what, taken in zip(forms, flat, strict=True):
                    detail = {"flat_ms": 1e3 * taken, "rectangles_ms": 1e3 * rectangles}
                    name = f"{surrogate}, 10⁵ {what}, flat with groups, {engine}"
                    limit = "" if what == "lists of 6 to 14" else "<= 2"
                    yield Result(name, taken / rectangles, "× rectangles", limit, detail)


def ndcg() -> Iterator[Result]:
    """NDCG of 10⁶ lists of 10 items, forward and backward, in a process of its own."""
    with patch.dict(os.environ, RANKWISE_COMPILED="0"):
        measured = measure_in_fresh_process("benchmarks.many_lists")
    name = "NDCG, 10⁶ lists of 10 items, forward + backward"
    yield Result(name, measured["seconds"], "s", "<= 60", measured)
    yield Result(f"{name}: peak extra memory", measured["extra"] / 2**30, "GB", "<= 4", measured)


def main() -> None:
    from rankwise.objectives import NDCG  # noqa: PLC0415

    torch.set_num_threads(1)
    torch.manual_seed(0)
    scores = torch.randn(1_000_000, 10, requires_grad=True)
    target = torch.randint(0, 4, scores.shape)
    found: dict[str, float] = {}

    def step() -> None:
        start = time.process_time()
        NDCG()(scores, target).backward()
        found["seconds"] = time.process_time() - start

    found["extra"] = peak_bytes_of(step)
    print(json.dumps(found))


ALL = [ragged, ndcg]

if __name__ == "__main__":
    main()
