"""The paper's statements about Figure 1 on points that are made up."""

from __future__ import annotations

import pytest

from reproductions.papk_figure1.claims import (
    CLAIMS,
    ZERO,
    Checked,
    Claim,
    check,
    claims_table,
    end_of,
    order,
    outcome,
)
from reproductions.papk_figure1.measure import CONDITIONS, WATCHED, Point
from reproductions.papk_figure1.study import _PAPER

STEPS = (0, 4, 5, 10)


def points(ends: dict[tuple[str, str], tuple[float, float]]) -> list[Point]:
    """Every curve is 1, 1, then 0 at half and at the end, or as ``ends`` has it."""
    found = []
    for condition in CONDITIONS:
        for name in (*WATCHED, "risk"):
            values = (1.0, 1.0, *ends.get((condition.name, name), (0.0, 0.0)))
            found += [Point(condition.name, s, name, v) for s, v in zip(STEPS, values, strict=True)]
    return found


AS_PRINTED = {("β", name): (0.1, 0.2) for name in ("max", "ts", "ts_eq14")}


def test_as_the_paper_has_it_all_is_found():
    checked = check(points(AS_PRINTED))
    assert all(one.holds for one in checked)
    said = outcome(checked)
    assert "this run shows all 16 (" in said[0]
    assert "Not found" not in said[0]
    assert "max rises from 0.1 to 0.2, ts rises from 0.1 to 0.2 and ts_eq14 rises" in said[1]


def test_what_is_not_so_is_named():
    ends = {**AS_PRINTED, ("β", "max"): (0.3, 0.2), ("strong", "avg"): (0.0, 2 * ZERO),
            ("β", "ts_eq14"): (0.0, 0.0)}  # fmt: skip
    checked = check(points(ends))
    said = outcome(checked)
    assert "this run shows 12 of 16 (" in said[0]
    assert "avg under strong converges to 0" in said[0]
    assert "max under β rises in the later half" in said[0]
    assert "ts_eq14 under β does not converge to 0 and ts_eq14 under β rises" in said[0]
    assert "max falls from 0.3 to 0.2, ts rises from 0.1 to 0.2 and ts_eq14 stays" in said[1]
    found = {row[:3]: row[3:] for row in claims_table(checked).rows}
    assert found["β", "max", "rises in the later half"] == ("0.3", "0.2", "no")
    assert found["β", "max", "does not converge to 0"] == ("0.3", "0.2", "yes")


@pytest.mark.parametrize(("last", "holds"), [(ZERO, True), (1.01 * ZERO, False)])
def test_zero_has_a_width(last, holds):
    assert Checked(Claim("strong", "max", "converges to 0"), "max", 1.0, last, 9).holds == holds


def test_a_descent_ends_where_nothing_moves():
    """avg is 0 from step 6 on, and max was higher there than at step 4, half of the way."""
    found = []
    for step, value in ((0, 1.0), (2, 0.5), (4, 0.2), (6, 0.3), (8, 0.3), (100, 0.3)):
        for condition in CONDITIONS:
            for name in (*WATCHED, "risk"):
                kept = value if name in ("max", "ts", "ts_eq14") else float(step < 6)
                found.append(Point(condition.name, step, name, kept))
    assert end_of(found, "β") == 6
    (rise,) = (c for c in check(found)
               if (c.surrogate, c.claim.says) == ("max", "rises in the later half"))  # fmt: skip
    assert (rise.half, rise.last, rise.end, rise.holds) == (0.2, 0.3, 6, True)
    assert "until step 6, in the later half of these steps max rises" in outcome(check(found))[1]


def test_the_claims_are_the_papers_words():
    for condition in CONDITIONS:
        words = _PAPER[condition.name].lower()
        vanish = {c.surrogate for c in CLAIMS
                  if (c.condition, c.says) == (condition.name, "converges to 0")}  # fmt: skip
        assert vanish == set(condition.vanish)
        assert "all four" in words or all(name in words for name in vanish)


def test_the_order_is_counted_at_every_point():
    said = order(points({("β", "avg"): (0.0, 0.0), ("β", "ramp"): (0.5, 0.5)}))
    assert "ramp ≤ avg at 2 of 12;" in said
    assert "ramp ≤ max at 2 of 12;" in said
    assert "risk ≤ ramp at none of 12;" in said
