"""Every method for every k on every split, each with its best setting by the validation rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.estimators.data import Part
from rankwise.estimators.papk import (
    GreedyPApAtKRanker,
    GroupedRanker,
    LogisticAtKRanker,
    PApAtKRanker,
    PartialAUCAtKRanker,
    PrecisionAtKRanker,
    SelectPApAtKRanker,
    Users,
    search_grid,
    settings,
)
from rankwise.studies.base import Setting
from rankwise.studies.papk_table3.behance import is_behance, read_behance
from rankwise.studies.papk_table3.citation import is_citation, read_citation
from rankwise.studies.papk_table3.instances import Instances, split_rows
from rankwise.studies.papk_table3.movielens import read_movielens
from rankwise.studies.papk_table3.published import KS

__all__ = [
    "BASELINES",
    "METHODS",
    "OURS",
    "RANDOM",
    "STARTS",
    "Cell",
    "Plan",
    "measure",
    "read_instances",
    "with_negatives",
]

Maker = Callable[..., GroupedRanker]

OURS: dict[str, Maker] = {
    "GD-pAp@k-max": partial(PApAtKRanker, surrogate="max"),
    "GD-pAp@k-avg": partial(PApAtKRanker, surrogate="avg"),
    "GD-pAp@k-TS": partial(PApAtKRanker, surrogate="ts"),
    "GD-pAp@k-ramp": partial(PApAtKRanker, surrogate="ramp"),
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
class Plan:
    """What is measured. The grid is a part of the paper's, the same for every method."""

    instances: Instances
    ks: tuple[int, ...]
    splits: int = 5
    etas: tuple[float, ...] = (0.05, 0.5)
    lams: tuple[float, ...] = (1e-3, 1e-1)
    steps: int = 60

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """The plan for a setting; ``draws`` is the number of splits."""
        if setting.data is None:
            raise DataError(
                "papk-table3 needs ratings: --data with MovieLens' u.data, RecBole's "
                "ml-100k.inter (the wheel recbole==1.2.1 has it), a Citation table or the folder "
                "of Behance"
            )
        instances = read_instances(Path(setting.data), setting.seed)
        ks = KS[instances.name]
        if setting.quick:
            return cls(instances, ks[:1], setting.draws or 2, (0.1, 0.5), (1e-3,), 20)
        return cls(instances, ks, setting.draws or 5)


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


def read_instances(path: Path, seed: int) -> Instances:
    """Instances of whichever of the three data sets this is."""
    if is_behance(path):
        return read_behance(path, seed)
    return read_citation(path) if is_citation(path) else read_movielens(path, seed)


def measure(plan: Plan, setting: Setting) -> list[Cell]:
    """All cells; a split is the same for every method and k."""
    work = [
        (split, start, name, k)
        for split in range(plan.splits)
        for start in STARTS
        for name in METHODS
        for k in plan.ks
        if not (name in WITHOUT_DESCENT and start != "zero")  # it has nowhere to start
    ]
    work += [(split, "zero", RANDOM, k) for split in range(plan.splits) for k in plan.ks]
    work.sort(key=lambda one: one[0])
    parts: tuple[int, tuple[Part, Part, Part]] | None = None
    cells = []
    for split, start, name, k in setting.track(work, "training"):
        if parts is None or parts[0] != split:
            part = split_rows(plan.instances.users, 1_000 * setting.seed + split)
            first, second, third = (plan.instances.part(part == p) for p in range(3))
            parts = split, (first, second, third)
        if name == RANDOM:
            cells.append(_random(split, k, parts[1][2], setting.seed))
            continue
        descent = {} if name in WITHOUT_DESCENT else {"start": start, "max_iter": plan.steps}
        ranker = METHODS[name](k=k, **descent)
        cells.append(_cell(ranker, (name, start, split), parts[1], plan))
    return cells


def _cell(
    ranker: GroupedRanker, named: tuple[str, str, int], parts: tuple[Part, Part, Part], plan: Plan
) -> Cell:
    train, validation, test = parts
    found = search_grid(ranker, train, validation, settings(plan.etas, plan.lams))
    best, k = found.best, ranker.k
    scores = np.asarray(test.X @ found.coefficients[:, best])
    whole, full = _gains(test, scores, k)
    # No setting was chosen where a method has none.
    eta, lam = found.settings[best] if len(found.settings) > 1 else (0.0, 0.0)
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
