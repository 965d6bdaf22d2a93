"""``python -m tests.chaos``: kill every training command at every file operation, and resume it."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import torch
from tests.chaos.disk import can_mount, start_with_own_mounts
from tests.chaos.harness import Bench
from tests.chaos.scenarios import SCENARIOS

SHORT = {"LinearRanker.fit": 4, "rank train, linear": 15, "classify train": 23}
"""Commands of the short form, and which of their crash points are tried: every n-th."""
_ROW = "{:<30}{:>11}{:>13}{:>8}{:>15}{:>7}{:>7}{:>6}{:>10}"
_HEADER = ("command", "operations", "crash points", "states", "failed writes", "disks", "kills",
           "lost", "different")  # fmt: skip
_DISKS = 8  # sizes of small disks, and moments at which a disk becomes read-only
_MEMORY = Path("/dev/shm")  # a disk that need not be waited for


def main() -> int:
    """Print a table; the exit code is 1 where a run was lost or ended with other bytes."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(SCENARIOS), help="one command")
    parser.add_argument("--kills", type=int, default=220, help="random kills in all")
    parser.add_argument("--seconds", type=float, default=1e9, help="limit for each command: of "
                        "more crash points than fit in it every n-th is tried")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="some crash points of three commands")
    given = parser.parse_args()
    start_with_own_mounts()
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    chosen = list(SHORT) if given.short else given.only or list(SCENARIOS)
    wrong: list[str] = []
    totals = [0] * 7
    print(_ROW.format(*_HEADER), flush=True)
    for name in chosen:
        rng = random.Random(given.seed)
        with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
            bench = Bench(SCENARIOS[name], Path(folder, "bench"))
            if given.short:
                _some(bench, SHORT[name], rng)
            else:
                _all(bench, given.kills // len(chosen) + 1, given.seconds, rng)
        tally = bench.tally
        numbers = (tally.crash_points, tally.states, tally.faults, tally.disks, tally.kills)
        numbers += (tally.lost, tally.different)
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        print(_ROW.format(name, bench.operations, *numbers), flush=True)
        wrong += tally.wrong
    for line in wrong:
        print(line)
    points, states, faults, disks, kills, lost, different = totals
    print(
        f"{points} crash points ({states} states), {faults} failed writes, "
        f"{disks} full and read-only disks, {kills} random kills: "
        f"{lost} runs lost, {different} different, {len(wrong)} remarks"
    )
    return int(bool(wrong))


def _crash(bench: Bench, at: int, rng: random.Random) -> None:
    """Kill at an operation, sometimes with half a file, sometimes once more in the resumed run."""
    kind = "half" if bench.trace[at - 1][0] == "fsync" and at % 2 else "kill"
    bench.crash(at, kind, rng.randint(1, bench.operations) if at % 3 == 0 else None)


def _all(bench: Bench, kills: int, seconds: float, rng: random.Random) -> None:
    began = time.perf_counter()
    bench.together()
    # A half of the time goes to crash points and failed writes: about a run for each operation.
    every = max(1, round(bench.operations * bench.seconds / (seconds / 2)))
    bench.crash_everywhere(every, rng)
    for kind in ("full", "read-only"):
        for at in range(1, bench.operations + 1, 4 * every):
            bench.crash(at, kind)
    if can_mount():
        for pages in range(1, bench.pages, max(every, bench.pages // _DISKS)):
            bench.fill(pages)
        for at in range(1, bench.operations + 1, max(every, bench.operations // _DISKS)):
            bench.freeze(at)
    while bench.tally.kills < kills and time.perf_counter() - began < 2 * seconds:
        if bench.scenario.workers and rng.random() < 0.5:
            bench.kill_worker(rng)
        else:
            bench.kill(rng, signal.SIGTERM if rng.random() < 0.2 else signal.SIGKILL)


def _some(bench: Bench, every: int, rng: random.Random) -> None:
    bench.together()
    for at in range(every, bench.operations + 1, every):
        _crash(bench, at, rng)
    for kind in ("full", "read-only"):
        bench.crash(rng.randint(1, bench.operations), kind)
    if can_mount():
        bench.fill(rng.randint(1, bench.pages - 1))
        bench.freeze(rng.randint(1, bench.operations))
    bench.kill(rng, signal.SIGKILL)
    bench.kill(rng, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
