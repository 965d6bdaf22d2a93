"""Every method on every bench: chosen by validation, evaluated once on the test images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from reproductions.frame import Runs, Setting
from reproductions.retrieval.benches import Bench, History, Trial
from reproductions.retrieval.cell import Cell, cell_of, evaluated, queries_of
from reproductions.retrieval.methods import Method

Kept = dict[Trial, tuple[Any, History]]


@dataclass(frozen=True)
class Measurer:
    """Trains on a bench, and keeps every run; ``named`` tells runs of another plan apart."""

    bench: Bench
    runs: Runs
    named: str = ""

    def compare(self, methods: Sequence[Method], seeds: int, setting: Setting) -> list[Cell]:
        """Cells of all methods; their tries have the first seed, the others repeat the choice."""
        doing = f"{self.bench.problem.name}, {self.bench.kind}"
        found: list[Cell] = []
        for method in setting.track(methods, doing):
            found += self.choose_and_test(method, range(setting.seed, setting.seed + seeds))
        return found

    def choose_and_test(self, method: Method, seeds: Sequence[int]) -> list[Cell]:
        """One cell for each seed, of the try with the best validation of the first."""
        tries = [
            Trial(method, name, rate, seeds[0])
            for name in method.tries
            for rate in self.bench.budget.rates
        ]
        # A network is trained once: those of the tries are there when the best is evaluated.
        kept: Kept = {}
        worth = [
            self.runs.get(self._name(trial, "try"), partial(self._tried, trial, kept))
            for trial in tries
        ]
        return self.test(tries[worth.index(max(worth))], seeds, kept)

    def test(self, chosen: Trial, seeds: Sequence[int], kept: Kept | None = None) -> list[Cell]:
        """One cell for each seed, of what was chosen before."""
        cells = []
        for seed in seeds:
            trial = replace(chosen, seed=seed)
            found = self.runs.get(
                self._name(trial, "test"), partial(self._tested, trial, kept or {})
            )
            cells.append(cell_of(self.bench, trial, found))
        return cells

    def _name(self, trial: Trial, part: str) -> str:
        method = trial.method.repeats or trial.method.name
        place = f"{self.bench.problem.name} / {self.bench.kind} / {method}{self.named}"
        return f"{place} / {trial.objective} {trial.rate:g} / seed {trial.seed} / {part}"

    def _tried(self, trial: Trial, kept: Kept) -> float:
        kept[trial] = self.bench.train(trial)
        return max(row["map"] for row in kept[trial][1])

    def _tested(self, trial: Trial, kept: Kept) -> dict[str, Any]:
        # Not there: another seed, or a study that was killed in between.
        network, history = kept[trial] if trial in kept else self.bench.train(trial)
        test = self.bench.problem.splits.test
        rows = queries_of(test.labels, self.bench.plan.shown)
        return {
            "history": [[int(row["step"]), row["map"]] for row in history],
            **evaluated(self.bench.test(network), test.labels, rows),
        }
