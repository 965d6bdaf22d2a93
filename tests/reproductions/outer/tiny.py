"""The study in small: generated data of all five tasks, few arms, few steps, no clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from tests.reproductions.longtail.generated import tiny_plan
from tests.reproductions.retrieval.tiny import NETWORK, VIEWS
from tests.tasks.recommendation.cases import two_kinds
from tests.tasks.retrieval.cases import images

from rankwise.data.images import RetrievalSplits
from rankwise.data.interactions import Interactions
from rankwise.tasks.recommendation import Settings
from reproductions.outer.arms import ARMS
from reproductions.outer.longtail import image_problem
from reproductions.outer.plan import Plan
from reproductions.outer.problem import REFERENCE, Arm, Problem
from reproductions.outer.ranking import Queries, query_problems
from reproductions.outer.recommendation import interaction_problem
from reproductions.outer.retrieval import bench_plan, head_problem, scratch_problem
from reproductions.outer.tables import Split, row_problem, split_rows
from reproductions.retrieval.plan import Plan as BenchPlan


def splits(seed: int) -> RetrievalSplits:
    """Generated images whose training classes depend on the seed."""
    parts = (images("train", 6, seed=seed), images("validation", 3, seed=seed + 50))
    return RetrievalSplits(*parts, images("test", 4, seed=99))


def benches() -> BenchPlan:
    """A plan of the retrieval study with a network that fits the images."""
    plan = replace(bench_plan(2, 2, 2, None), extractor=NETWORK, extractor_views=VIEWS)
    return replace(plan, classes=3, per_class=2, dimension=4)


def clicks() -> Interactions:
    """Users and items of two kinds."""
    return two_kinds(items=40)


def rows(seed: int) -> list[Split]:
    """Two classes that overlap."""
    rng = torch.Generator().manual_seed(7)
    y = (torch.arange(200) % 5 == 0).long()
    x = torch.randn(200, 3, generator=rng) + y.unsqueeze(1)
    return split_rows(x, y, seed)


def queries() -> Queries:
    """Twenty queries of four to six documents, graded by the first feature."""
    rng = torch.Generator().manual_seed(8)
    x = torch.randn(20, 6, 4, generator=rng)
    mask = torch.arange(6) < (4 + torch.arange(20) % 3).unsqueeze(1)
    y = (x[..., 0] + 0.5 * torch.randn(20, 6, generator=rng)).clamp(0, 2).round() * mask
    y[:, 0] = 1.0
    return Queries(x * mask.unsqueeze(-1), y, mask)


def problems() -> tuple[Problem, ...]:
    """One or two problems of every task."""
    small = tiny_plan()
    return (
        interaction_problem("generated", clicks, Settings(epochs=2, dimension=4)),
        scratch_problem("generated", splits, VIEWS, benches()),
        head_problem("generated", splits, VIEWS, benches()),
        image_problem(small.problems[0], small),
        image_problem(small.problems[1], small, screened=False),
        row_problem("generated", rows, 1),
        query_problems(queries, 1)[0],
    )


def few_arms() -> dict[str, tuple[Arm, ...]]:
    """Of every task the first arm of three families."""
    found = {}
    for task, arms in ARMS.items():
        named = {arm.family: arm for arm in reversed(arms)}
        found[task] = tuple(named[family] for family in (REFERENCE, "exponential", "SOPRC"))
    return found


def plan(**changed: Any) -> Plan:
    """Return a plan of few arms and two seeds."""
    given: dict[str, Any] = {"problems": problems(), "arms": few_arms(), "repeats": 2}
    return Plan(**given | {"clock": lambda: 0.0} | changed)
