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
    value: float  # τ, or the images of a batch
    named: str  # τ as it was written, or "classes × images of a class"
    cells: tuple[Cell, ...]

    @property
    def place(self) -> tuple[str, str]:
        """Data set and method."""
        return self.cells[0].problem, self.cells[0].method


def batch_of(images: int, per_class: int, counts: Sequence[int]) -> tuple[int, int]:
    """Classes and images of a class for a batch of some images, by the images each class has.

    The images of a class are ``per_class``, or the next number that divides the batch where there
    are too few classes for that; the batch is the largest possible one where nothing fits.
    """
    for size in range(images, per_class - 1, -1):
        for each in range(per_class, min(counts) + 1):
            if size % each == 0 and size // each <= len(counts):
                return size // each, each
    raise ValueError(
        f"images must be at least {per_class}, the images of a class, of which the smallest class "
        f"must have as many ({min(counts)}), got {images}"
    )


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
    counts = bench.problem.splits.train.labels.bincount().tolist()
    sizes = dict.fromkeys(batch_of(size, plan.per_class, counts) for size in plan.sizes)
    usual = plan.classes, plan.per_class
    work = [(tau, usual) for tau in plan.taus] + [("", shape) for shape in sizes]
    found = []
    for tau, (classes, each) in setting.track(work, f"{bench.problem.name}, τ and batch"):
        where = replace(bench, plan=replace(plan, classes=classes, per_class=each))
        batch = f"{classes} × {each}"
        # A training of the comparison is not done again: the name of a run has its objective.
        label = "" if (classes, each) == usual else f" / batch {batch}"
        for method in with_tau(tau or plan.taus[0]):
            own = before[method.name]
            objective = method.tries[0] if tau else own.objective
            trial = Trial(method, objective, own.rate, setting.seed)
            cells = tuple(Measurer(where, runs, label).test(trial, seeds))
            found.append(
                Effect("tau", float(tau), tau, cells)
                if tau
                else Effect("batch", float(classes * each), batch, cells)
            )
    return found
