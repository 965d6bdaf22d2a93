"""Whole-gallery evaluation: its time against the bare matrix product, its memory."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import torch
from benchmarks.memory import peak_bytes_of
from benchmarks.timing import Result, measure_in_fresh_process, seconds_side_by_side
from torch import Tensor
from torch.nn.functional import normalize

from rankwise.retrieval import evaluate

ROWS = 256


def _gallery(items: int, dimension: int, of_a_class: int) -> tuple[Tensor, Tensor]:
    """Nothing learnt: right items are anywhere, which is the most there is to count."""
    torch.manual_seed(0)
    return normalize(torch.randn(items, dimension), dim=1), torch.arange(items) // of_a_class


def _product(embeddings: Tensor) -> None:
    """Every score once, in blocks that are used again."""
    scores = torch.empty(ROWS, len(embeddings))
    for rows in embeddings.split(ROWS):
        torch.mm(rows, embeddings.T, out=scores[: len(rows)])


def whole_gallery() -> Iterator[Result]:
    embeddings, labels = _gallery(20_000, 128, 5)
    product, ours = seconds_side_by_side(
        [lambda: _product(embeddings), lambda: evaluate(embeddings, labels)], 5
    )
    detail = {"product": product, "evaluate": ours}
    name = "evaluate, 20 000 × 128, 5 of a class, against the bare matrix product"
    yield Result(name, ours / product, "× its time", "<= 1.5", detail)
    for size in ((20_000, 128), (60_502, 512)):
        alone = measure_in_fresh_process("benchmarks.retrieval", *map(str, size))
        name = f"evaluate, {size[0]} × {size[1]}"
        peak = alone["peak"] / 1e6
        yield Result(f"{name}: peak memory beyond the embeddings", peak, "MB", "<= 1000")
    yield Result(f"{name}, the size of SOP's test part", alone["seconds"], "s")
    many, alike = _gallery(10_000, 128, 1000)
    product, ours = seconds_side_by_side([lambda: _product(many), lambda: evaluate(many, alike)], 3)
    name = "evaluate, 10 000 × 128, 1 000 of a class, against the bare matrix product"
    yield Result(name, ours / product, "× its time")


def alone(items: int, dimension: int) -> dict[str, float]:
    """Peak memory and time of one evaluation, in a process that has done nothing else."""
    embeddings, labels = _gallery(items, dimension, 5)
    start = time.perf_counter()
    peak = peak_bytes_of(lambda: evaluate(embeddings, labels))
    return {"peak": peak, "seconds": time.perf_counter() - start}


ALL = [whole_gallery]

if __name__ == "__main__":
    print(json.dumps(alone(*map(int, sys.argv[1:]))))
