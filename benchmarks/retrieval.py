"""Whole-gallery evaluation: its time against the bare matrix product, its memory."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from benchmarks.memory import peak_bytes_of
from benchmarks.timing import Result, seconds, seconds_side_by_side
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
    peak = peak_bytes_of(lambda: evaluate(embeddings, labels)) / 1e6
    yield Result("evaluate, 20 000 × 128: peak memory", peak, "MB", "<= 1000")
    large, of_it = _gallery(60_502, 512, 5)
    taken = seconds(lambda: evaluate(large, of_it), 1)
    yield Result("evaluate, 60 502 × 512, the size of SOP's test part", taken, "s")
    many, alike = _gallery(10_000, 128, 1000)
    product, ours = seconds_side_by_side([lambda: _product(many), lambda: evaluate(many, alike)], 3)
    name = "evaluate, 10 000 × 128, 1 000 of a class, against the bare matrix product"
    yield Result(name, ours / product, "× its time")


ALL = [whole_gallery]
