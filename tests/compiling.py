"""What ``torch.compile`` makes of a call: graphs, compiled frames and everything it says aloud."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

BACKEND = "eager"  # what is traced, without the minutes that code for it would take

# torch hides this one from its users, which a filter that turns warnings into errors undoes.
quiet_compiler = pytest.mark.filterwarnings(
    "ignore:The .grad attribute of a Tensor that is not a leaf"
)

Loss = Callable[..., Tensor]
Make = Callable[[], Loss]


@dataclass
class Compiled:
    """Counts since the compiler was reset, and its log messages from warnings on."""

    messages: list[str] = field(default_factory=list)

    def counts(self) -> tuple[int, int]:
        """Graphs, and the operations in all of them."""
        return _counter("stats", "unique_graphs"), _counter("stats", "calls_captured")

    def frames(self) -> int:
        """Functions that were compiled, or compiled again."""
        return _counter("frames", "total")


@contextmanager
def watched() -> Iterator[Compiled]:
    """A compiler that has seen nothing yet, and forgets it again afterwards."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    seen = Compiled()
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: seen.messages.append(record.getMessage())
    loggers = [logging.getLogger(name) for name in ("torch", "torch._dynamo")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield seen
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        torch._dynamo.reset()


def check_compiled_loss(
    make: Callable[[], Loss], scores: Tensor, *data: Any, **beside: Any
) -> None:
    """``torch.compile(loss)`` is the loss, quietly, and nothing is compiled twice."""
    plain, (first, second) = make(), (scores, 2 * scores)
    with watched() as seen:
        compiled = torch.compile(make(), backend=BACKEND)
        assert torch.equal(compiled(first, *data, **beside), plain(first, *data, **beside))
        frames = seen.frames()
        assert torch.equal(compiled(second, *data, **beside), plain(second, *data, **beside))
        assert seen.counts() == (0, 0), "nothing of a loss is in a graph"
        assert seen.frames() == frames, "the second call compiled something again"
        assert seen.messages == []


def check_compiled_step(
    make: Callable[[], Loss], scores: Tensor, *data: Any, **beside: Any
) -> None:
    """In a compiled training step the model is one graph, and nothing of the loss is in one."""
    results = []

    def training_step(loss: Loss, weight: Tensor) -> Tensor:
        predicted = (scores + weight).sin() + weight.cos()  # a model of four operations
        value = loss(predicted, *data, **beside)
        value.backward()
        return value

    with watched() as seen:
        for step in (torch.compile(training_step, backend=BACKEND), training_step):
            loss, weight = make(), torch.zeros_like(scores).requires_grad_()
            step(loss, weight)
            frames = seen.frames()
            results.append((step(loss, weight).detach(), weight.grad))
            assert seen.frames() == frames, "the second step compiled something again"
        assert seen.counts() == (1, 4), "the model is one graph, the loss is in none"
        assert seen.messages == []
    for mine, plain in zip(*results, strict=True):
        assert torch.equal(mine, plain)


def _counter(group: str, name: str) -> int:
    count: int = torch._dynamo.utils.counters[group][name]
    return count
