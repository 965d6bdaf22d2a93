"""Learning to rank: a linear scorer and a small network on queries, NDCG@10."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from rankwise import objective as by_name
from rankwise._grammar import parse
from rankwise.data.letor import read_letor
from rankwise.metrics import ndcg
from rankwise.naming.table import find_objective
from rankwise.objectives import Objective
from reproductions.outer.arms import RANKING
from reproductions.outer.problem import Arm, Outcome, Problem

FOLDS, BATCH, DROPOUT, DECAY = 5, 16, 0.3, 1e-2  # the last three as in benchmarks.ranking
RATES = (1e-3, 3e-3, 1e-2)
SCORERS = {"linear": 0, "network": 64}  # hidden units


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries padded to the longest: (queries, documents, features) and (queries, documents)."""

    x: Tensor
    y: Tensor
    mask: Tensor

    def quality(self, scores: Tensor, rows: Tensor) -> float:
        """Mean NDCG@10 of some queries."""
        return float(ndcg(scores, self.y[rows], k=10, mask=self.mask[rows]))


def read_queries(folder: Path) -> Queries:
    """Read the queries that have a relevant document, of both files: the others have no NDCG."""
    root = folder / "ranking" / "lightgbm_lambdarank"
    files = [read_letor(root / f"rank.{name}") for name in ("train", "test")]
    width = max(file.width for file in files)
    features, relevance = [], []
    for file in files:
        columns = file.columns(width)
        x = torch.tensor(sparse.csr_array(columns).toarray())
        sizes = np.bincount(file.groups).tolist()
        parts = zip(
            x.float().split(sizes), torch.tensor(file.target).float().split(sizes), strict=True
        )
        for some, graded in parts:
            if graded.max() > 0:
                features.append(some)
                relevance.append(graded)
    lists = (features, relevance, [torch.ones(len(y)).bool() for y in relevance])
    return Queries(*(nn.utils.rnn.pad_sequence(each, batch_first=True) for each in lists))


def query_problems(read: Callable[[], Queries], epochs: int) -> list[Problem]:
    """One problem for each kind of scorer."""
    kept = lru_cache(maxsize=1)(read)
    return [_problem(name, hidden, kept, epochs) for name, hidden in SCORERS.items()]


def folds(count: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries to train, validate and test on: 3, 1 and 1 of 5 folds.

    Seeds 1 to 5, 6 to 10, … test on every query once.
    """
    block, test = divmod(seed - 1, FOLDS)
    generator = torch.Generator().manual_seed(block + 1)
    fold = torch.randperm(count, generator=generator) % FOLDS
    validation = (test + 1) % FOLDS
    known = (fold != test) & (fold != validation)
    return (
        known.nonzero().squeeze(1),
        (fold == validation).nonzero().squeeze(1),
        (fold == test).nonzero().squeeze(1),
    )


def _problem(name: str, hidden: int, read: Callable[[], Queries], epochs: int) -> Problem:
    def run(arm: Arm, seed: int, test: bool) -> Outcome:
        queries = read()
        parts = folds(len(queries.y), seed)[: 3 if test else 2]
        make = partial(_loss, arm, queries, parts[0], epochs)
        with torch.random.fork_rng(devices=[]):
            found = []
            for rate in RATES:
                torch.manual_seed(seed)
                network = _scorer(queries.x.shape[-1], hidden)
                found.append(_train(queries, parts, network, make(), epochs, rate))
        return Outcome(*max(found))

    return Problem(RANKING, name, "NDCG@10", run)


def _scorer(features: int, hidden: int) -> nn.Module:
    layers: list[nn.Module] = [nn.Linear(hidden or features, 1), nn.Flatten(-2)]
    if hidden:
        layers = [nn.Linear(features, hidden), nn.ReLU(), nn.Dropout(DROPOUT), *layers]
    return nn.Sequential(*layers)


def _train(  # noqa: PLR0917  (one call)
    queries: Queries,
    parts: tuple[Tensor, ...],
    network: nn.Module,
    loss: Objective,
    epochs: int,
    rate: float,
) -> tuple[float, ...]:
    """NDCG@10 of the epoch with the best validation, on every part after the first."""
    known, others = parts[0], parts[1:]
    x = _standardized(queries, known)
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=DECAY)
    best: tuple[float, ...] = (-1.0,) * len(others)
    for _ in range(epochs):
        network.train()
        for some in torch.randperm(len(known)).split(BATCH):
            rows = known[some]
            y = queries.y[rows] if loss.graded else (queries.y[rows] > 0).float()
            ids = some if loss.memory_by == "list" else None
            optimizer.zero_grad()
            loss(network(x[rows]), y, mask=queries.mask[rows], list_ids=ids).backward()
            optimizer.step()
        network.eval()
        with torch.no_grad():
            seen = tuple(queries.quality(network(x[rows]), rows) for rows in others)
        best = max(best, seen)
    return best


def _loss(arm: Arm, queries: Queries, known: Tensor, epochs: int) -> Objective:
    """Make the objective; one with a memory by query gets the share of relevant documents."""
    name = arm.objective_of(epochs * -(-len(known) // BATCH))
    prior, lists = None, None
    if "num_lists" in find_objective(parse(name)).facts:
        relevant = (queries.y[known] > 0).sum(1) / queries.mask[known].sum(1)
        prior, lists = relevant.double().clamp(1e-3, 1 - 1e-3), len(known)
    made = by_name(name, prior=prior, num_lists=lists)
    assert isinstance(made, Objective)
    return made


def _standardized(queries: Queries, rows: Tensor) -> Tensor:
    documents = queries.x[rows][queries.mask[rows]]
    deviation = documents.std(0)
    scaled = (queries.x - documents.mean(0)) / torch.where(deviation > 0, deviation, 1)
    return scaled.clamp(-5, 5)
