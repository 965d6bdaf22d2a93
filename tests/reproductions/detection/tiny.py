"""A plan over pictures in memory that takes a moment."""

from __future__ import annotations

import itertools
from dataclasses import replace

from tests.tasks.detection.cases import settings, splits

from reproductions.detection.plan import HEADS, Choice, Plan

SOME = tuple(head for head in HEADS if head.key in ("focal", "stableap", "two-stage-stableap"))
SOME += tuple(head for head in HEADS if head.previous or head.printed)  # one of every kind


def plan(**changes) -> Plan:
    """Two choices, two seeds, one step; a clock that goes on by one at every look."""
    seconds = itertools.count()
    small = settings(
        network={"frozen": 5},
        augmentations={"expand": 1, "colors": False},
        optimizer={"name": "sgd"},
        training={"steps": 1, "validate_every": 1},
    )
    made = Plan(
        splits(4),
        small,
        choices=(Choice(0.02), Choice(0.02, 1)),
        seeds=2,
        shown=2,
        timed=2,
        clock=lambda: float(next(seconds)),
    )
    return replace(made, **changes)
