"""Click logs: propensities by expectation maximization, and relevances without position bias."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.timing import Result, least_processor_seconds

from rankwise.data.letor import Clicks, Letor, estimate_propensities, with_clicks

QUERIES, LENGTH, SESSIONS = 10_000, 10, 100


def log() -> Iterator[Result]:
    """A log of lists in random order, each position looked at with the propensity 1/position."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(QUERIES * LENGTH), LENGTH)
    positions = np.tile(np.arange(1, LENGTH + 1), QUERIES * LENGTH)
    relevance = rng.choice([0.1, 0.9], QUERIES * LENGTH)
    shown = np.full(len(rows), SESSIONS / LENGTH)
    clicked = rng.binomial(SESSIONS // LENGTH, relevance[rows] / positions).astype(float)
    clicks = Clicks(Path("log"), rows, positions, shown, clicked)
    features = np.zeros((QUERIES * LENGTH, 1), dtype=np.float32)
    groups = np.repeat(np.arange(QUERIES), LENGTH)
    names = tuple(map(str, range(QUERIES)))
    lists = Letor(Path("lists"), features, np.zeros(len(features)), groups, names)
    theta = estimate_propensities(clicks)
    worst = float(np.abs(theta * np.arange(1, LENGTH + 1) - 1).max())
    found, corrected = least_processor_seconds(
        [partial(estimate_propensities, clicks), partial(with_clicks, lists, clicks, theta)], 1
    )
    detail = {"queries": QUERIES, "documents": len(features), "cells": len(rows)}
    size = "10⁷ impressions of 10⁵ documents at 10 positions"
    yield Result(f"estimate_propensities, {size}", found, "s", "", detail)
    name = f"estimate_propensities, {size}: greatest relative error"
    yield Result(name, worst, "", "<= 0.02", detail)
    yield Result(f"with_clicks, {size}", corrected, "s", "", detail)


ALL = [log]
