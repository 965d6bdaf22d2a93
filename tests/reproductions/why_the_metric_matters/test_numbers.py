from __future__ import annotations

import math
from fractions import Fraction

import pytest

from reproductions.why_the_metric_matters.example import Printed
from reproductions.why_the_metric_matters.examples import TABLE_2_2
from reproductions.why_the_metric_matters.numbers import Check, exact, shown


@pytest.mark.parametrize(
    ("value", "fraction"),
    [(1 / 3, Fraction(1, 3)), (0.0, Fraction(0)), (241 / 352, Fraction(241, 352))],
)
def test_fractions_are_found(value, fraction):
    assert exact(value) == fraction
    assert shown(value) == str(fraction)


def test_a_logarithm_is_no_fraction():
    for value in (1 / math.log2(3), math.sqrt(0.5), math.pi / 4):
        assert exact(value) is None
        assert shown(value) == f"{value:.5f}"
    assert shown(None) == "–"


@pytest.mark.parametrize(
    ("text", "value", "verdict"),
    [
        ("22/30", 11 / 15, "exact"),
        ("1.00", 1.0, "exact"),
        ("0/4", 0.0, "exact"),
        ("0.42", 5 / 12, "rounded"),
        ("0.89", 59 / 66, "rounded"),
        ("0.78", 52 / 66, "cut off; rounded it is 0.79"),
        ("0.77", 52 / 66, "differs; it is 0.79"),
        ("3/4", 2 / 4, "differs; it is 1/2"),
        ("1", 0.5, "differs; it is 1/2"),
        ("0.63", 1 / math.log2(3), "rounded"),
    ],
)
def test_verdicts(text, value, verdict):
    check = Check(TABLE_2_2, Printed("AUROC", "E1", text), value)
    assert check.verdict == verdict
    assert check.right == (verdict in {"exact", "rounded"})
