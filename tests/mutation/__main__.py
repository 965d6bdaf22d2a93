"""Mutation tests: ``python -m tests.mutation`` (``make mutants``).

Changes single expressions in functions of the packages that compute, runs the tests of each
changed module, and lists the changes that no test notices.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from tests.mutation.mutators import Mutant, mutants
from tests.mutation.own_tests import PACKAGES, ROOT, modules, own_tests, shared_tests
from tests.mutation.runner import Task, run

_IMPORTED = ("torch", "numpy", "scipy.stats", "sklearn.metrics", "hypothesis")  # before the forks
_NOTICED = ("failed", "time")
_ROW = "{:<12}{:>9}{:>8}{:>8}{:>10}{:>8}"


def main() -> int:
    """Print what became of every mutant, and the score of every package."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--each", type=int, default=60, help="Mutants of each package.")
    parser.add_argument("--modules", type=int, default=1000, help="Modules of each package.")
    parser.add_argument("--only", nargs="*", default=list(PACKAGES), choices=PACKAGES)
    parser.add_argument("--seed", type=int, default=0, help="Seed of the sample.")
    given = parser.parse_args()
    for name in _IMPORTED:
        import_module(name)
    began, counts = time.monotonic(), Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory(prefix="rankwise-mutants") as folder:
        for package in given.only:
            chosen = sample(package, given.each, given.modules, given.seed)
            for path, mutant, result in tried(package, chosen, Path(folder, "results")):
                counts[package, result] += 1
                where = f"{path.relative_to(ROOT)}:{mutant.line}"
                print(f"{result}: {where} (number {mutant.number}): {mutant.what}", flush=True)
    print(_ROW.format("package", "mutants", "own", "shared", "survived", "score"))
    for package in given.only:
        own, shared, lost = (counts[package, name] for name in ("own", "shared", "survived"))
        score = f"{100 * (own + shared) / max(1, own + shared + lost):.0f} %"
        print(_ROW.format(package, own + shared + lost, own, shared, lost, score))
    print(f"{sum(counts.values())} mutants in {time.monotonic() - began:.0f} s")
    return 0


def sample(package: str, size: int, most: int, seed: int) -> list[tuple[Path, Mutant]]:
    """Draw mutants of at most so many modules, every change with the same probability."""
    rng = random.Random(f"{seed} {package}")
    paths = modules(package)
    every = {path: mutants(path.read_text("utf-8")) for path in paths}
    if len(paths) > most:
        paths = rng.sample(paths, most)
    changes = [(path, one) for path in paths for one in every[path]]
    return rng.sample(changes, min(size, len(changes)))


def tried(
    package: str, chosen: list[tuple[Path, Mutant]], results: Path
) -> Iterator[tuple[Path, Mutant, str]]:
    """Yield ``own`` or ``shared``, the tests that notice a mutant, ``survived`` or ``left out``."""
    groups: dict[tuple[Path, ...], list[tuple[Path, Mutant]]] = {}
    for path, mutant in chosen:
        groups.setdefault(own_tests(path), []).append((path, mutant))
    unnoticed = []
    for files, group in groups.items():
        found = run(files, [Task(path, mutant.number) for path, mutant in group], results)
        for (path, mutant), result in zip(group, found, strict=True):
            if result == "passed":
                unnoticed.append((path, mutant))
            else:
                yield path, mutant, "own" if result in _NOTICED else "left out"
    if not unnoticed or (shared := shared_tests(package)) is None:
        yield from ((path, mutant, "survived") for path, mutant in unnoticed)
        return
    tasks = [Task(path, mutant.number, shared.words(path)) for path, mutant in unnoticed]
    found = run([shared.file], tasks, results)
    for (path, mutant), result in zip(unnoticed, found, strict=True):
        yield path, mutant, "shared" if result in _NOTICED else "survived"


if __name__ == "__main__":
    sys.exit(main())
