"""Fuzz the readers: ``python -m tests.fuzz --count 100000`` (``make fuzz``).

It exits with 1 where a reader raised anything but one line of its own, died, hung or grew.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import torch
from tests.fuzz.engine import Outcome, Seeds, run, store, stored
from tests.fuzz.targets import TARGETS

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is imported, by a reader
CORPUS = Path(__file__).parent / "corpus"
_ROUND = 4000
_RESULTS = ("read", "refused", "raw", "death", "hang", "memory", "stall")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="Number of inputs.")
    parser.add_argument("--minutes", type=float, default=1e9, help="Maximum duration.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed of the mutations.")
    parser.add_argument("--only", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--keep", action="store_true", help="Store failing inputs in the corpus.")
    options = parser.parse_args()
    torch.set_num_threads(1)
    began, outcome, done = time.monotonic(), Outcome(), 0
    memory = Path("/dev/shm")  # a disk that need not be waited for
    place = memory if memory.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="rankwise-fuzz", dir=place) as name:
        seeds = Seeds(Path(name), options.only)
        known = [one for one in stored(CORPUS) if one[0] in options.only]
        run(Path(name), known, outcome)
        with suppress(KeyboardInterrupt):  # what was found until then is printed
            while done < options.count and time.monotonic() - began < 60 * options.minutes:
                stop = min(options.count, done + _ROUND)
                run(Path(name), list(seeds.inputs(options.seed, done, stop)), outcome)
                done = stop
                print(f"{done} of {options.count} inputs", file=sys.stderr, flush=True)
    seen: set[tuple[str, str]] = set()
    for reader, why, content in outcome.failures:
        key = (reader, why.rpartition("(")[2] if "(" in why else why[:60])
        if key in seen:
            continue
        seen.add(key)
        kept = f" -> {store(CORPUS, (reader, content))}" if options.keep else ""
        print(f"{reader}: {why}{kept}")
    print(f"{'reader':<20}" + "".join(f"{result:>9}" for result in _RESULTS))
    for reader in [*sorted(outcome.counts), "all"]:
        counts = outcome.counts.get(reader) or sum(outcome.counts.values(), start=_nothing())
        print(f"{reader:<20}" + "".join(f"{counts[result]:>9}" for result in _RESULTS))
    print(f"{done} inputs and {len(known)} of the corpus in {time.monotonic() - began:.0f} s")
    return int(bool(outcome.failures))


def _nothing() -> Counter[str]:
    return Counter()


if __name__ == "__main__":
    sys.exit(main())
