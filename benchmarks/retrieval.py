"""Whole-gallery evaluation: its time against the bare matrix product, its memory."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator
from functools import partial

import torch
from benchmarks.memory import peak_bytes_of
from benchmarks.timing import Result, measure_in_fresh_process, seconds_side_by_side
from torch import Tensor
from torch.nn.functional import normalize

from rankwise.retrieval import ApproximateSearch, evaluate, nearest

ROWS = 256


def _gallery(items: int, dimension: int, of_a_class: int) -> tuple[Tensor, Tensor]:
    """Nothing learned: right items are anywhere, which is the most there is to count."""
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


def _learned(items: int) -> Tensor:
    """Points of a surface of 16 dimensions in 128: more like what is learned than noise is."""
    torch.manual_seed(0)
    bend = torch.randn(16, 128) / 4
    return normalize(torch.sin(torch.randn(items, 16) @ bend), dim=1)


def approximate() -> Iterator[Result]:
    for kind, made in (
        ("16 dimensions in 128", _learned),
        ("random directions", lambda n: _gallery(n, 128, 5)[0]),
    ):
        everything = made(201_000)
        known, queries = everything[:200_000], everything[200_000:]
        start = time.process_time()
        search = ApproximateSearch(known)
        built = time.process_time() - start
        recall = search.recall(queries)
        times: list[list[float]] = [[], []]
        for block in queries.split(200):  # in turns, so that a slow moment hits both
            calls = [partial(search.search, block), partial(nearest, known, block)]
            for call, taken in zip(calls, times, strict=True):
                start = time.process_time()
                call(k=10)
                taken.append(time.process_time() - start)
        ours, exact = (statistics.median(taken) / 200 for taken in times)
        name = f"ApproximateSearch, 200 000 × 128, {kind}"
        cells = search.cells
        detail = {
            "probes": cells.probes,
            "cells": len(cells.centers),
            "error": recall.standard_error,
        }
        yield Result(f"{name}: recall@10, 95 % wanted", recall.mean, "", "", detail)
        seconds = {"approximate": ours, "exact": exact}
        looked = f"{cells.probes} of {len(cells.centers)} cells"
        yield Result(f"{name}: a query in {looked}", 1e3 * ours, "ms", "", seconds)
        yield Result(f"{name}: against the exact search", exact / ours, "× faster", "", seconds)
        yield Result(f"{name}: to build", built, "s")


ALL = [whole_gallery, approximate]

if __name__ == "__main__":
    print(json.dumps(alone(*map(int, sys.argv[1:]))))
