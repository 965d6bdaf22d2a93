from __future__ import annotations

import pytest

from rankwise.training import cosine_rate, milestone_rate


def test_the_rate_falls_after_milestones():
    rates = [milestone_rate(0.01, step, (15, 30), 0.1) for step in (0, 14, 15, 29, 30, 49)]
    assert rates == pytest.approx([0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001])


def test_the_rate_rises_over_the_warm_up():
    rates = [milestone_rate(0.1, step, (4,), warm_up=3) for step in range(6)]
    assert rates == pytest.approx([0.025, 0.05, 0.075, 0.1, 0.01, 0.01])


def test_a_cosine_falls_from_the_rate_to_zero():
    assert cosine_rate(0.2, 0, 10) == 0.2
    assert cosine_rate(0.2, 5, 10) == pytest.approx(0.1)
    assert cosine_rate(0.2, 10, 10) == pytest.approx(0.0)
