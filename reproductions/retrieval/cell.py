"""What is kept of one training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankwise.retrieval import evaluate
from reproductions.retrieval.benches import Bench, Trial

FIRST = 8  # results of a query that are kept, to be shown


@dataclass(frozen=True)
class Cell:
    """One training of a method: what it was, and how it did on the test."""

    problem: str
    kind: str
    method: str
    seed: int
    objective: str
    rate: float
    validation: float
    map: float
    hit: float
    r_precision: float
    precision: tuple[float, ...]  # at recall 0, .01, …, 1
    history: tuple[tuple[int, float], ...]  # step, and mAP of validation
    found: tuple[tuple[int, ...], ...]  # the first results of the queries shown
    ranks: tuple[tuple[int, ...], ...]  # of all images of the class, of the queries shown

    @property
    def bench(self) -> tuple[str, str]:
        """Data set and setting."""
        return self.problem, self.kind


def cell_of(bench: Bench, trial: Trial, kept: dict[str, Any]) -> Cell:
    """The cell of a trial from what was kept of it."""
    history = tuple((int(step), float(value)) for step, value in kept["history"])
    return Cell(
        problem=bench.problem.name,
        kind=bench.kind,
        method=trial.method.name,
        seed=trial.seed,
        objective=trial.objective,
        rate=trial.rate,
        validation=max(value for _, value in history),
        map=kept["map"],
        hit=kept["hit"],
        r_precision=kept["r_precision"],
        precision=tuple(kept["precision"]),
        history=history,
        found=tuple(tuple(row) for row in kept["found"]),
        ranks=tuple(tuple(row) for row in kept["ranks"]),
    )


def queries_of(labels: Tensor, count: int) -> list[int]:
    """Test images to show, of different classes, drawn without a look at any result."""
    known = labels.numpy()
    rng = np.random.default_rng(len(known))
    classes = rng.permutation(np.unique(known))[:count]
    return [int(rng.choice(np.flatnonzero(known == one))) for one in classes]


@torch.no_grad()
def evaluated(embeddings: Tensor, labels: Tensor, rows: Sequence[int]) -> dict[str, Any]:
    """The numbers of a test, and the first results of some queries."""
    result = evaluate(embeddings, labels, hits=(1,))
    scores = embeddings[list(rows)] @ embeddings.T
    scores[torch.arange(len(rows)), list(rows)] = -torch.inf
    first = scores.topk(min(FIRST, len(labels) - 1), dim=1).indices
    right = labels[list(rows)].unsqueeze(1) == labels
    right[torch.arange(len(rows)), list(rows)] = False
    return {
        "map": result.map,
        "hit": result.hit_at[1],
        "r_precision": result.r_precision,
        "precision": [round(value, 6) for value in result.precision.tolist()],
        "found": first.tolist(),
        "ranks": [ranks_of(own, same) for own, same in zip(scores, right, strict=True)],
    }


def ranks_of(scores: Tensor, positive: Tensor) -> list[int]:
    """Ranks of the positives, ascending; a negative with the score of a positive is before it."""
    negatives = scores[~positive]
    above = [int((negatives >= score).sum()) for score in scores[positive]]
    return [place + count for place, count in enumerate(sorted(above), 1)]
