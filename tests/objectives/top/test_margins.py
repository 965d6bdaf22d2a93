from __future__ import annotations

import pytest

from rankwise.objectives import PApAtK, PrecisionAtK
from rankwise.objectives.top._margins import unit_of_margins


@pytest.mark.parametrize(
    ("surrogate", "unit"),
    [("avg", "auto"), ("max", "auto"), ("ts", "auto"), ("ramp", 1.0), ("soft", 1.0)],
)
def test_who_looks_beyond_the_top_has_the_spread_for_its_unit(surrogate, unit):
    assert unit_of_margins(surrogate, None) == unit
    assert PApAtK(3, surrogate).score_scale == unit
    assert PApAtK(3, surrogate, score_scale=2).score_scale == 2
    if surrogate != "ts":
        assert PrecisionAtK(3, surrogate).score_scale == unit
