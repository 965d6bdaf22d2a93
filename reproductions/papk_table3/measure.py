"""Every method for every k on every split, each with its best setting by the validation rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.estimators.data import Part
from rankwise.estimators.papk.ranker import ETAS, LAMS, PApAtKRanker, search_grid, settings
from rankwise.estimators.papk.users import Users
from reproductions.frame import BasePlan, Runs, Setting
from reproductions.papk_solvers.rankers import (
    GreedyPApAtKRanker,
    LogisticAtKRanker,
    PartialAUCAtKRanker,
    PrecisionAtKRanker,
    SelectPApAtKRanker,
)
from reproductions.papk_table3.behance import is_behance, read_behance
from reproductions.papk_table3.citation import is_citation, read_citation
from reproductions.papk_table3.instances import Instances
from reproductions.papk_table3.movielens import read_movielens
from reproductions.papk_table3.published import KS

Maker = Callable[..., PApAtKRanker]

OURS: dict[str, Maker] = {
    "GD-pAp@k-max": partial(PApAtKRanker, form="max"),
    "GD-pAp@k-avg": partial(PApAtKRanker, form="avg"),
    "GD-pAp@k-TS": partial(PApAtKRanker, form="ts"),
    "GD-pAp@k-ramp": partial(PApAtKRanker, form="ramp"),
}
BASELINES: dict[str, Maker] = {
    "SVM-pAUC": PartialAUCAtKRanker,
    "Greedy-pAp@k": GreedyPApAtKRanker,
    "SGD@k-avg": PrecisionAtKRanker,
    "Select-pAp@k": SelectPApAtKRanker,
    "logistic": LogisticAtKRanker,
}
METHODS = {**OURS, **BASELINES}
WITHOUT_DESCENT = ("Greedy-pAp@k",)
RANDOM = "random order"
STARTS = ("zero", "log_loss")


@dataclass(frozen=True)
class Plan(BasePlan):
    """What is measured. The grid is the paper's, the same for every method."""

    QUICK: ClassVar = {"splits": 2, "etas": (0.1, 0.5), "lams": (1e-3,), "steps": 20}
    DRAWS = "splits"

    instances: Instances
    ks: tuple[int, ...]
    splits: int = 5
    etas: tuple[float, ...] = ETAS
    lams: tuple[float, ...] = LAMS
    steps: int = 60
    interactions: int = 7  # features of authors and conferences, of Citation
    reduction: str = "pca"  # of the images, of Behance: pca or umap

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """Return the plan for a setting; ``draws`` is the number of splits."""
        if setting.data is None:
            raise DataError(
                "papk-table3 needs ratings: --data with MovieLens' u.data, RecBole's "
                "ml-100k.inter (the wheel recbole==1.2.1 has it), or the folder of Citation's or "
                "Behance's files"
            )
        own = {n: v for n, v in setting.options.items() if n in ("interactions", "reduction")}
        instances = read_instances(Path(setting.data), setting.seed, **own)
        ks = KS[instances.name]
        plan = cls(instances, ks[:1] if setting.quick else ks).changed(setting)
        # Where the split is published there is no other.
        return plan if instances.parts is None else replace(plan, splits=1)


@dataclass(frozen=True)
class Cell:
    """One method on one split: its worth in per cent, and the setting that was chosen."""

    method: str
    start: str
    k: int
    split: int
    test: float  # all test users with both classes
    test_full: float  # those with at least k negatives among their test rows
    validation: float
    eta: float
    lam: float
    steps: int


def read_instances(
    path: Path, seed: int, *, interactions: int | None = None, reduction: str | None = None
) -> Instances:
    """Instances of whichever of the three data sets this is.

    ``interactions`` is for Citation and ``reduction`` for Behance; None is their default.
    """
    name = "Behance" if is_behance(path) else "Citation" if is_citation(path) else "MovieLens"
    for option, value, of in (
        ("interactions", interactions, "Citation"),
        ("reduction", reduction, "Behance"),
    ):
        if value is not None and of != name:
            raise DataError(f"--{option} is for {of}, got {value!r} and {name} in {path}")
    if name == "Behance":
        return read_behance(path, seed, reduction=reduction or "pca")
    if name == "Citation":
        return read_citation(path, interactions=7 if interactions is None else interactions)
    return read_movielens(path, seed)


def measure(plan: Plan, setting: Setting) -> list[Cell]:
    """All cells, each kept as it ends; a split is the same for every method and k."""
    work = [
        (start, split, k, name)
        for start in STARTS  # the paper's first
        for split in range(plan.splits)
        for k in plan.ks
        for name in (*METHODS, RANDOM)
        if start == "zero" or name not in (*WITHOUT_DESCENT, RANDOM)  # with nowhere to start
    ]
    runs = Runs(setting.folder, _asked(plan, setting))
    parts_of = lru_cache(maxsize=1)(partial(_parts, plan.instances, setting.seed))
    cells = []
    for start, split, k, name in setting.track(work, "training"):

        def make(
            start: str = start, split: int = split, k: int = k, name: str = name
        ) -> dict[str, Any]:
            if name == RANDOM:
                return asdict(_random(split, k, parts_of(split)[2], setting.seed))
            descent = {} if name in WITHOUT_DESCENT else {"start": start, "max_iter": plan.steps}
            ranker = METHODS[name](k=k, **descent)
            return asdict(_cell(ranker, (name, start, split), parts_of(split), plan))

        cells.append(Cell(**runs.get(f"{name}, k = {k}, split {split}, {start}", make)))
    return cells


def _asked(plan: Plan, setting: Setting) -> dict[str, Any]:
    """Return what a cell depends on apart from its name."""
    return {
        "study": "papk-table3",
        "seed": setting.seed,
        "data": f"{plan.instances.name}, {plan.instances.size}",
        "etas": plan.etas,
        "lams": plan.lams,
        "steps": plan.steps,
        "select": SelectPApAtKRanker().inner or "until convergence",
        "interactions": plan.interactions,
        "reduction": plan.reduction,
    }


def _parts(instances: Instances, seed: int, split: int) -> tuple[Part, Part, Part]:
    """Training, validation and test rows."""
    part = instances.split(1_000 * seed + split)
    train, validation, test = (instances.part(part == p) for p in range(3))
    return train, validation, test


def _cell(
    ranker: PApAtKRanker, named: tuple[str, str, int], parts: tuple[Part, Part, Part], plan: Plan
) -> Cell:
    train, validation, test = parts
    # Greedy looks for the best of nearly equal rankings, and rounding would choose among them.
    single = named[0] not in WITHOUT_DESCENT
    grid = settings(plan.etas, plan.lams)
    found = search_grid(ranker, train, validation, grid, single=single)
    best, k = int(np.argmax(found.values)), ranker.k
    scores = np.asarray(test.X @ found.weights[:, best])
    whole, full = _gains(test, scores, k)
    # No setting was chosen where a method has none.
    eta, lam = grid[best] if len(found.values) > 1 else (0.0, 0.0)
    return Cell(
        named[0],
        named[1],
        k,
        named[2],
        whole,
        full,
        100 * float(found.values[best]),
        eta,
        lam,
        int(found.steps[best]),
    )


def _random(split: int, k: int, test: Part, seed: int) -> Cell:
    scores = np.random.default_rng([seed, split, k]).random(len(test))
    return Cell(RANDOM, "zero", k, split, *_gains(test, scores, k), 0.0, 0.0, 0.0, 0)


def _gains(test: Part, scores: NDArray[np.float64], k: int) -> tuple[float, float]:
    """Of all test users, and of those with at least k negatives."""
    full = with_negatives(test, k)
    return gain(test, scores, k), gain(test.rows(full), scores[full], k) if full.any() else 0.0


def gain(part: Part, scores: NDArray[np.float64], k: int) -> float:
    """Micro-pAp@k in per cent, ties against the ranking."""
    return 100 * float(Users.of_part(part).gain(torch.from_numpy(scores[None].copy()), k)[0])


def with_negatives(part: Part, k: int) -> NDArray[np.bool_]:
    """The rows of users with at least k negatives."""
    assert part.groups is not None
    enough = np.bincount(part.groups, part.target == 0) >= k
    return np.asarray(enough[part.groups])
