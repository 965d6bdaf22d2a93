"""Mutation tests: ``python -m tests.mutation`` (``make mutants``).

Changes single expressions of the packages that compute, runs the tests of each changed module,
and lists the changes that no test notices.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.mutation.mutators import Mutant, mutants, mutated
from tests.mutation.own_tests import PACKAGES, ROOT, Selection, modules, own_tests
from tests.mutation.runner import LEAST, SLOWER, run, warm

_ROW = "{:<12}{:>9}{:>8}{:>8}{:>11}{:>8}"


def main() -> int:
    """Print every survivor and the score of every package."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--each", type=int, default=60, help="Mutants of each package.")
    parser.add_argument("--only", nargs="*", default=list(PACKAGES), choices=PACKAGES)
    parser.add_argument("--seed", type=int, default=0, help="Seed of the sample.")
    parser.add_argument("--minutes", type=float, default=1e9, help="Maximum duration.")
    parser.add_argument("--mutant", metavar="FILE:NUMBER", help="Run this one mutant.")
    given = parser.parse_args()
    began = time.monotonic()
    bench, counts = Bench(), Counter[tuple[str, str]]()
    if given.mutant:
        name, _, number = given.mutant.rpartition(":")
        path = ROOT / name
        print(bench.noticed(path, mutants(path.read_text("utf-8"))[int(number)]))
        return 0
    samples = {package: sample(package, given.each, given.seed) for package in given.only}
    turns = [(p, one) for group in zip_longest(samples) for p, one in group]
    for package, (path, mutant) in turns:
        if time.monotonic() - began > 60 * given.minutes:
            break
        result = bench.noticed(path, mutant)
        counts[package, result] += 1
        counts[package, "all"] += 1
        if result == "survived":
            where = f"{path.relative_to(ROOT)}:{mutant.line}"
            print(f"survived: {where} (number {mutant.number}): {mutant.what}", flush=True)
    print(_ROW.format("package", "mutants", "own", "shared", "survived", "score"))
    for package in given.only:
        total, lost = counts[package, "all"], counts[package, "survived"]
        score = f"{100 * (total - lost) / max(1, total):.0f} %"
        own, shared = counts[package, "own"], counts[package, "shared"]
        print(_ROW.format(package, total, own, shared, lost, score))
    print(f"{sum(counts[p, 'all'] for p in given.only)} mutants in {time.monotonic() - began:.0f} s")
    return 0


def zip_longest(samples):
    """Yield the first of every package, then the second ones, so that a short run has all."""
    for number in range(max(map(len, samples.values()))):
        yield [(name, held[number]) for name, held in samples.items() if number < len(held)]


def sample(package: str, size: int, seed: int) -> list[tuple[Path, Mutant]]:
    """Draw mutants of a package, every change with the same probability."""
    every = [
        (path, one) for path in modules(package) for one in mutants(path.read_text("utf-8"))
    ]
    return random.Random(f"{seed} {package}").sample(every, min(size, len(every)))


class Bench:
    """The tests of every module, and how long they take without a change."""

    def __init__(self) -> None:
        self._usual: dict[Selection, float | None] = {}

    def noticed(self, path: Path, mutant: Mutant) -> str:
        """Return ``own`` or ``shared``: which tests noticed a mutant, or ``survived``."""
        tree = mutated(path.read_text("utf-8"), mutant.number)
        for turn, selection in enumerate(own_tests(path)):
            usual = self._seconds(selection)
            if usual is None:
                continue
            found = run(selection, path, tree, seconds=LEAST + SLOWER * usual)
            if found.result in ("failed", "time"):
                return "shared" if turn else "own"
        return "survived"

    def _seconds(self, selection: Selection) -> float | None:
        """Return the seconds that tests take, None where there are none."""
        if selection not in self._usual:
            with tempfile.TemporaryDirectory() as folder:
                listed = Path(folder, "modules.json")
                found = run(selection, listed=listed)
                if found.result not in ("passed", "none"):
                    raise RuntimeError(f"{selection.arguments()}: {found.result} without a mutant")
                warm(listed)
            self._usual[selection] = found.seconds if found.result == "passed" else None
        return self._usual[selection]


if __name__ == "__main__":
    sys.exit(main())
