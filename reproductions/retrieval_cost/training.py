"""One training of a given processor time, and what a step of it costs."""

from __future__ import annotations

import ctypes
import math
from statistics import median
from typing import Any

import torch

from rankwise.retrieval import evaluate
from reproductions.frame import spent
from reproductions.retrieval_cost.benches import Bench, Trial
from reproductions.retrieval_cost.learners import TimedLearner


def train(bench: Bench, trial: Trial, *, test: bool = False) -> dict[str, Any]:
    """Train for the seconds of the bench; the network of the best validation is kept.

    Validations are outside of the seconds. The test classes are read only with ``test``.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        learner = bench.learner(trial)
        history, spent = _trained(learner, bench)
        found: dict[str, Any] = {
            "validation": max(value for _, _, value in history),
            "history": history,
            "steps": history[-1][0],
            "seconds": spent,
        }
        if test:
            result = evaluate(*learner.test(), hits=(1,))
            found |= {"map": result.map, "hit": result.hit_at[1], "queries": result.queries}
    return found


def _trained(learner: TimedLearner, bench: Bench) -> tuple[list[tuple[int, float, float]], float]:
    """Steps, seconds and mAP at every validation, and the seconds of all steps."""
    clock, seconds, parts = bench.plan.clock, bench.seconds, bench.plan.validations
    history: list[tuple[int, float, float]] = []
    best, kept = -math.inf, {}
    steps, spent = 0, 0.0
    while spent < seconds:
        begin = clock()
        learner.used = min(1.0, spent / seconds)
        learner.step()
        spent, steps = spent + clock() - begin, steps + 1
        if spent >= seconds * (len(history) + 1) / parts or spent >= seconds:
            value = learner.validate()
            history.append((steps, spent, value))
            if value > best:
                state = learner.network.state_dict()
                best, kept = value, {name: t.clone() for name, t in state.items()}
    learner.network.load_state_dict(kept)
    return history, spent


def cost(bench: Bench, trial: Trial) -> dict[str, float]:
    """Seconds and peak megabytes of a step, beyond what the process holds before it."""
    clock = bench.plan.clock
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        learner = bench.learner(trial)
        learner.step()  # the first one warms up
        times = [spent(clock, learner.step) for _ in range(bench.plan.timed)]
        _release()
        peak = bench.plan.peak_bytes(learner.step)
    return {"seconds": median(times), "megabytes": peak / 2**20}


def _release() -> None:
    """Give freed memory back to the system, so that the next peak is measured."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
