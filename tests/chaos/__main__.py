"""``python -m tests.chaos``: kill every training command at every file operation, and resume it.

``--only NAME`` is one command, ``--kills N`` the number of random kills in all, ``--seconds S`` a
limit for each command: of more crash points than fit in it every n-th is tried.
"""

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
from tests.chaos.harness import Bench
from tests.chaos.scenarios import SCENARIOS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--only", action="append", choices=list(SCENARIOS))
    parser.add_argument("--kills", type=int, default=220)
    parser.add_argument("--seconds", type=float, default=80.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    chosen, wrong, totals = given.only or list(SCENARIOS), [], [0] * 5
    header = ("command", "operations", "crash points", "faults", "kills", "lost", "different")
    print("{:<30}{:>12}{:>14}{:>8}{:>8}{:>6}{:>11}".format(*header), flush=True)
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(SCENARIOS[name], Path(folder, "bench"))
            tally = _tried(bench, given.kills // len(chosen) + 1, given.seconds, given.seed)
        numbers = (tally.crash_points, tally.faults, tally.kills, tally.lost, tally.different)
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        row = (name, bench.operations, *numbers)
        print("{:<30}{:>12}{:>14}{:>8}{:>8}{:>6}{:>11}".format(*row), flush=True)
        wrong += tally.wrong
    for line in wrong:
        print(line)
    points, faults, kills, lost, different = totals
    print(
        f"{points} crash points, {faults} failed writes, {kills} random kills: {lost} runs lost, "
        f"{different} different, {len(wrong)} remarks"
    )
    return int(bool(wrong))


def _tried(bench: Bench, kills: int, seconds: float, seed: int):
    rng, began = random.Random(seed), time.perf_counter()
    bench.together()
    # A half goes to the crash points: a run and its continuation each, sometimes two.
    every = max(1, round(bench.operations * 2.5 * bench.seconds / (seconds / 2)))
    for at in range(1, bench.operations + 1, every):
        kind = "half" if bench.trace[at - 1][0] == "fsync" and at % 2 else "kill"
        bench.crash(at, kind, rng.randint(1, bench.operations) if at % 3 == 0 else None)
    for kind in ("full", "read-only"):
        for at in range(1, bench.operations + 1, 4 * every):
            bench.crash(at, kind)
    while bench.tally.kills < kills and time.perf_counter() - began < 2 * seconds:
        bench.kill(rng, signal.SIGTERM if rng.random() < 0.2 else signal.SIGKILL)
    return bench.tally


if __name__ == "__main__":
    sys.exit(main())
