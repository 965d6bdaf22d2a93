"""The objectives: a step's time and memory, alone and against the peers' losses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Result, measure_in_fresh_process

PEERS = Path(__file__).parent.parent / ".venv-peers" / "bin" / "python"
LOSSES = ("SOPRC", "StableAP")


def step(loss: str, size: str, python: str = sys.executable) -> dict[str, float]:
    return measure_in_fresh_process("benchmarks.objective_step", loss, size, python=python)


def steps() -> Iterator[Result]:
    for loss in LOSSES:
        for size, limit in (("112", ""), ("448", "<= 25"), ("1024", "")):
            measured = step(loss, size)
            name = f"{loss}, batch of {size}, every item a query, forward + backward"
            yield Result(name, 1e3 * measured["seconds"], "ms", limit, dict(measured))


def memory() -> Iterator[Result]:
    for loss in LOSSES:
        measured = step(loss, "8192")
        name = f"{loss}, 8 192 × 8 192 scores, peak memory of a step"
        yield Result(name, measured["peak"] / 2**30, "GB", "<= 4", dict(measured))


def peers() -> Iterator[Result]:
    """Needs ``make bench-peers``, which builds the peers' own environment."""
    if not PEERS.exists():
        print("   no .venv-peers: run `make bench-peers`")
        return
    for size in ("448", "896"):
        theirs = step("pml", size, str(PEERS))
        for loss in LOSSES:
            mine = step(loss, size)
            detail = {"ours": mine, "theirs": theirs}
            name = f"{loss}, batch of {size}, against pytorch-metric-learning's SmoothAPLoss"
            limits = (">= 100", ">= 50") if size == "896" else ("", "")
            ratio = theirs["seconds"] / mine["seconds"]
            yield Result(name + ": time", ratio, "× faster", limits[0], detail)
            ratio = theirs["peak"] / max(1, mine["peak"])
            yield Result(name + ": memory", ratio, "× less", limits[1], detail)
    theirs = step("libauc", "list:20000", str(PEERS))
    for loss in LOSSES:
        mine = step(loss, "list:20000")
        detail = {"ours": mine, "theirs": theirs}
        name = f"{loss}, one list of 20 000 scores, against LibAUC 2.0.1's APLoss: time"
        yield Result(name, theirs["seconds"] / mine["seconds"], "× faster", ">= 100", detail)


ALL = [steps, memory, peers]
