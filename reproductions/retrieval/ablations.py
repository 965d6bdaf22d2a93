"""The papers' ablations, and the effect of τ and of the batch, on kept features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reproductions.frame import Runs, Setting
from reproductions.retrieval.benches import Pretrained, Trial
from reproductions.retrieval.cell import Cell
from reproductions.retrieval.measure import Measurer
from reproductions.retrieval.methods import with_tau


@dataclass(frozen=True)
class Effect:
    """Trainings of one of ours with one number changed."""

    of: str  # "tau" or "batch"
    value: float
    cells: tuple[Cell, ...]


def ablate(bench: Pretrained, setting: Setting, runs: Runs) -> list[Cell]:
    """Every line, with the same rates to choose from."""
    plan = bench.plan
    return Measurer(bench, runs).compare(plan.ablations, plan.ablation_seeds, setting)


def effects(
    bench: Pretrained, chosen: Sequence[Cell], setting: Setting, runs: Runs
) -> list[Effect]:
    """τ and the size of the batch; all else, the rate too, as the comparison had chosen it."""
    plan, place = bench.plan, (bench.problem.name, bench.kind)
    before = {cell.method: cell for cell in chosen if cell.bench == place}
    seeds = range(setting.seed, setting.seed + plan.ablation_seeds)
    most = len(bench.problem.splits.train.classes)
    work: list[tuple[str, str]] = [("tau", tau) for tau in plan.taus]
    work += [("batch", str(size)) for size in sorted({min(size, most) for size in plan.sizes})]
    found = []
    for of, word in setting.track(work, f"{bench.problem.name}, τ and batch"):
        is_tau = of == "tau"
        where = bench if is_tau else replace(bench, plan=replace(plan, classes=int(word)))
        value = float(word) if is_tau else float(int(word) * plan.per_class)
        for method in with_tau(word if is_tau else plan.taus[0]):
            own = before[method.name]
            objective = method.tries[0] if is_tau else own.objective
            trial = Trial(method, objective, own.rate, setting.seed)
            cells = Measurer(where, runs, f" / {of} {word}").test(trial, seeds)
            found.append(Effect(of, value, tuple(cells)))
    return found
