from __future__ import annotations

import math

from reproductions import Setting
from reproductions.saturation.measure import LOSSES, Plan, measure


def test_same_data_and_start_for_every_loss_and_gains_where_there_are_any():
    plan = Plan(prior=0.1, items=300, batch=100, steps=4, every=2, repeats=2)
    curves = measure(plan, Setting())
    assert [(c.loss, c.repeat) for c in curves] == [(n, r) for r in range(2) for n in LOSSES]
    for curve in curves:
        assert curve.steps == [0, 2, 4]
        first = next(c for c in curves if c.repeat == curve.repeat)
        assert curve.test_ap[0] == first.test_ap[0]  # before the first step
        if curve.loss == "cross-entropy":
            assert all(math.isnan(gain) for gain in curve.gain)
        elif "printed" in curve.loss:
            assert curve.gain == [(1 - plan.prior) / plan.prior] * 3
        else:
            assert 0 < curve.gain[0] < (1 - plan.prior) / plan.prior


def test_the_number_of_repeats_can_be_chosen():
    assert Plan.of(Setting(draws=7)).repeats == 7
    assert Plan.of(Setting(quick=True)).steps < Plan.of(Setting()).steps
