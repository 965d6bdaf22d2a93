"""A plan of seconds, with a table that is made up."""

from __future__ import annotations

import torch

from reproductions.generalization.plan import Plan
from reproductions.generalization.problems import TableProblem


def table() -> TableProblem:
    """Two features, of which the first separates the classes, with noise."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(120, 2, generator=generator)
    shift = torch.tensor([1.0, 0.0])
    return TableProblem("a small table", rows[:60] + shift, rows[60:] - shift)


def small_plan() -> Plan:
    """Two sizes of everything."""
    return Plan(
        table(),
        lists=(2, 8),
        sizes=(10, 40),
        other=20,
        repeats=2,
        steps=3,
        fresh=200,
        long=200,
        twin_sizes=(16,),
        signs=2,
    )
