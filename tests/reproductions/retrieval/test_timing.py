"""The times of a step by a clock that is written down."""

from __future__ import annotations

from itertools import accumulate

import pytest
import torch
from tests.reproductions.retrieval.tiny import plan

from reproductions.frame import Runs
from reproductions.retrieval import timing
from reproductions.retrieval.benches import Scratch
from reproductions.retrieval.methods import METHODS
from reproductions.retrieval.timing import Time, times

NAMED = {method.name: method for method in METHODS}


def bench(*names: str, **changed: object) -> Scratch:
    made = plan(methods=tuple(NAMED[name] for name in names), **changed)
    return Scratch(made.problems[0], made)


def clock(*taken: float):
    """Seconds of the work between two looks, in their order; much passes in between."""
    looks = accumulate((step for each in taken for step in (each, 1000.0)), initial=0.0)
    return lambda: next(looks)


def test_medians_in_milliseconds_without_the_first_of_each():
    # Whole step and loss alone, in turn; the first of both are long.
    seconds = (90.0, 80.0, 3.0, 1.0, 7.0, 2.0, 4.0, 1.5)
    own = bench("SupCon", timed=3, clock=clock(*seconds))
    assert times(own, Runs(None, {})) == [Time("SupCon", loss=1500.0, step=4000.0)]


def test_an_even_number_of_steps_has_the_mean_of_the_middle_two():
    own = bench("SupCon", timed=2, clock=clock(9, 9, 3, 1, 7, 2))
    assert times(own, Runs(None, {})) == [Time("SupCon", 1500.0, 5000.0)]


def test_every_method_is_timed_and_only_once(tmp_path):
    names = ("triplet", "XBM", "StableAP + DFM")
    found = times(bench(*names, timed=1, clock=clock(*[1.0] * 12)), Runs(tmp_path, {}))
    assert found == [Time(name, 1000.0, 1000.0) for name in names]
    stopped = bench(*names, timed=1, clock=lambda: pytest.fail("timed again"))
    assert times(stopped, Runs(tmp_path, {})) == found


@pytest.mark.parametrize(("name", "images"), [("SupCon", 6), ("XBM", 6), ("StableAP + DFM", 24)])
def test_the_loss_has_as_many_vectors_as_in_a_step(monkeypatch, name, images):
    seen, alone = [], timing._loss

    def counted(task, step, labels, rows):
        embedded = []
        hook = task.loss.register_forward_hook(lambda m, given, out: embedded.append(given[0]))
        alone(task, step, labels, rows)
        hook.remove()
        (vectors,) = embedded
        assert vectors.grad is not None  # both ways
        seen.append((len(vectors), len(labels), labels.unique().numel()))

    monkeypatch.setattr(timing, "_loss", counted)
    times(bench(name, timed=2), Runs(None, {}))
    assert seen == [(images, images, 3)] * 3  # of three classes


def test_the_method_itself_is_timed_and_not_the_warm_start(monkeypatch):
    steps, alone = [], timing._loss

    def counted(task, step, labels, rows):
        steps.append(step)
        alone(task, step, labels, rows)

    monkeypatch.setattr(timing, "_loss", counted)
    own = bench("SOPRC", timed=2)
    times(own, Runs(None, {}))
    warm = own.plan.scratch.warm_start
    assert warm > 0
    assert steps == [warm + 1, warm + 2, warm + 3]  # a step is before each


def test_the_random_numbers_of_the_caller_are_not_touched():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    times(bench("SupCon"), Runs(None, {}))
    assert torch.equal(torch.random.get_rng_state(), before)
