"""Everything the page shows, measured run by run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from rankwise.data.images.image_set import fingerprint
from reproductions.frame import Runs, Setting
from reproductions.retrieval.ablations import Effect, ablate, effects
from reproductions.retrieval.benches import Bench, Pretrained, Scratch
from reproductions.retrieval.cell import Cell
from reproductions.retrieval.features import features_of
from reproductions.retrieval.maps import Map, map_of
from reproductions.retrieval.measure import Measurer
from reproductions.retrieval.methods import Method
from reproductions.retrieval.plan import Plan
from reproductions.retrieval.timing import Time, times


@dataclass(frozen=True)
class Measured:
    """All that was measured."""

    cells: list[Cell]
    ablations: list[Cell]
    effects: list[Effect]
    times: list[Time]
    untrained: dict[str, dict[str, Any]]  # features themselves and heads at the start, by data set
    maps: list[Map]

    @property
    def benches(self) -> dict[tuple[str, str], list[Cell]]:
        """The cells of the comparison by data set and setting."""
        places = dict.fromkeys(cell.bench for cell in self.cells)
        return {place: [c for c in self.cells if c.bench == place] for place in places}


def collect(plan: Plan, setting: Setting) -> Measured:
    """The cheap parts first: what is long is last."""
    runs = Runs(setting.folder, asked(plan, setting))
    heads = [_pretrained(plan, number, setting) for number in range(len(plan.problems))]
    cells, ablated, changed = [], [], []
    raw = {b.problem.name: runs.get(f"{b.problem.name} / untrained", b.untrained) for b in heads}
    for number, bench in enumerate(heads):
        seeds = plan.pretrained.seeds[number]
        cells += Measurer(bench, runs).compare(plan.methods, seeds, setting)
    for bench in heads:
        ablated += ablate(bench, setting, runs)
        changed += effects(bench, cells, setting, runs)
    measured = times(Scratch(plan.problems[0], plan), runs)
    benches: list[Bench] = [*heads]
    for number, problem in enumerate(plan.problems):
        if seeds := plan.scratch.seeds[number]:
            chosen = _with_own_number(plan, problem.name, cells)
            benches.append(Scratch(problem, plan))
            cells += Measurer(benches[-1], runs).compare(chosen, seeds, setting)
    ours = [method.name for method in plan.methods if method.ours]
    drawn = [map_of(bench, cells, ours, runs) for bench in setting.track(benches, "maps")]
    return Measured(cells, ablated, changed, measured, raw, drawn)


def _with_own_number(plan: Plan, problem: str, cells: list[Cell]) -> list[Method]:
    """What is trained from scratch, each method with the number that its heads have chosen."""
    of_heads = {c.method: c.objective for c in cells if c.bench == (problem, Pretrained.kind)}
    return [
        replace(method, tries=(of_heads[method.name],))
        for method in plan.methods
        if method.name in plan.from_scratch
    ]


def _pretrained(plan: Plan, number: int, setting: Setting) -> Pretrained:
    problem = plan.problems[number]
    name = f"features_{problem.name.lower().replace('-', '')}.npz"
    path = None if setting.folder is None else setting.folder / name
    features = features_of(problem.splits, plan.extractor, plan.extractor_views, path)
    return Pretrained(problem, plan, features)


def asked(plan: Plan, setting: Setting) -> dict[str, Any]:
    """Return what the runs depend on apart from their names."""
    budgets = ("pretrained", "scratch")
    sizes = ("classes", "per_class", "dimension", "dropout", "width", "shown", "timed")
    return {
        "data": [fingerprint(problem.splits.train) for problem in plan.problems],
        "seed": setting.seed,
        **{name: asdict(getattr(plan, name)) for name in budgets},
        **{name: getattr(plan, name) for name in sizes},
    }
