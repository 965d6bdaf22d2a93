"""What is measured, in small, against the theory called by itself."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from tests.reproductions.test_every_study import TINY

from rankwise.objectives import SOPRC
from rankwise.pairs import Hinge, OneSidedSigmoid
from rankwise.theory import model_stability, stable_ap_q, stable_ap_theorem_1
from reproductions.frame import Setting
from reproductions.list_stability import inequalities
from reproductions.list_stability.measure import BATCH, highest_negative, measure, work_of

PLAN = TINY["list-stability"][1]


@pytest.fixture(scope="module")
def found():
    return measure(PLAN, Setting(seed=5))


def test_every_training_has_every_data_set_and_number_of_steps(found):
    work = work_of(PLAN)
    assert len(work) == len(set(work))
    assert len(found.twins) == len(work) * PLAN.repeats * len(PLAN.steps)
    assert [check.objective for check in found.checks] == list(PLAN.checked)
    assert {t.claim for t in found.tested} >= {"StableAP, Lemma 3", "StableAP, Theorem 1"}


def test_a_twin_is_what_the_theory_measures_with_falling_rates(found):
    training = PLAN.training(0.5, *BATCH)
    assert (training.schedule, training.learning_rate) == ("inverse", 0.5)

    def soprc(n):  # β = 1/n⁺
        return SOPRC(0.25, n, tau_fpr=1.0, ema_rate=1 / 8, gain="fixed", score_scale=1.0)

    own = model_stability(soprc, 6, PLAN.steps, training=training, repeats=1, seed=5 + 1)
    rows = [t for t in found.twins if t.loss == "SOPRC" and t.repeat == 1 and t.n_positives == 6]
    rows = [t for t in rows if (t.batch_positives, t.batch_negatives) == BATCH]
    assert [t.positive for t in rows] == [s.positive.value for s in own]
    assert [t.memory_positive for t in rows] == [s.memory_positive.value for s in own]
    assert all(math.isnan(t.memory_positive) for t in found.twins if t.loss != "SOPRC")


def test_the_largest_error_is_that_of_the_prior(found):
    assert found.constants.largest_error == pytest.approx(3 * 13)  # (1−π)/π and 1 + 2·6
    parts = found.constants
    assert parts.printed >= max(parts.largest_error, parts.measured.smoothness)
    assert 1 < parts.interpolation < 10


def test_more_steps_than_positives_are_refused():
    with pytest.raises(ValueError, match=r"^steps must be at most n_positives"):
        measure(replace(PLAN, steps=(7,)), Setting())


def test_the_highest_negative_by_hand():
    scores, target = torch.tensor([0.5, 0.1, 0.9, 0.2]), torch.tensor([True, True, False, False])
    assert float(highest_negative(scores, target)) == pytest.approx(0.6)


def test_violations_are_counted(monkeypatch):
    monkeypatch.setattr(inequalities, "SURROGATES", (Hinge(1.0), OneSidedSigmoid(1.0)))
    rows = {(t.claim, t.surrogate): t for t in inequalities.tested(2_000, seed=1)}
    hinge = rows["StableAP, Theorem 1", "Hinge(margin=1.0)"]
    assert (hinge.lists, hinge.violations, hinge.assumed) == (2_000, 0, True)
    assert hinge.tightest < 1
    sigmoid = rows["StableAP, Theorem 1", "OneSidedSigmoid(tau=1.0)"]  # below the step
    assert sigmoid.violations > 0
    assert not sigmoid.assumed


def test_the_printed_side_is_that_of_the_exponent_minus_one_half():
    above, below, surrogate = torch.tensor([0.3]), torch.tensor([0.5]), Hinge(1.0)
    right = float(stable_ap_theorem_1(above, below, surrogate, epsilon=0.5).sides[-1])
    half = stable_ap_q(3.0) / 2
    x = 1.2  # of the hinge
    assert half**2 / right == pytest.approx(half * (0.25 + x / (1 + x)) ** -0.5)
