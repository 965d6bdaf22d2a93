from __future__ import annotations

import math

import pytest

from rankwise.theory.summary import mean_of, student_quantile


def test_mean_and_standard_error_by_hand():
    mean = mean_of([1.0, 2.0, 3.0, 6.0])
    assert mean.value == 3
    assert mean.standard_error == pytest.approx(math.sqrt((4 + 1 + 0 + 9) / 3 / 4))
    assert math.isnan(mean_of([1.0]).standard_error)


@pytest.mark.parametrize(
    ("degrees", "exact"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (1000, 1.9623)],
)
def test_student_quantiles_of_the_tables(degrees, exact):
    assert student_quantile(0.95, degrees) == pytest.approx(exact, rel=2e-5)


def test_student_quantiles_go_on_without_a_jump():
    assert student_quantile(0.95, 1001) == pytest.approx(student_quantile(0.95, 1000), rel=1e-5)
    assert math.isnan(student_quantile(0.95, 0))
