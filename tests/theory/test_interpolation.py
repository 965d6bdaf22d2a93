from __future__ import annotations

import pytest

from rankwise.theory import Beta, Normal, Uniform, interpolation_error


@pytest.mark.parametrize("law", [Normal(1.0), Beta(5, 2)], ids=str)
@pytest.mark.parametrize("n", [20, 100, 400])
def test_chords_keep_the_bound_and_phi_twice_it(law, n):
    found = interpolation_error(law, n, draws=2)
    assert 0 < found.chords <= found.bound
    assert found.phi <= 2 * found.bound


@pytest.mark.parametrize("n", [20, 100])
def test_a_linear_quantile_function_is_restored(n):
    found = interpolation_error(Uniform(), n, draws=2)
    assert found.bound == 0
    assert max(found.chords, found.phi) < 1e-12
    # E[u_(i)] = i/(n+1): known, and not the quantile (i − ½)/n.
    assert found.expected == pytest.approx(0.25 / (n + 1), rel=0.1, abs=1e-3)


def test_the_expected_error_is_of_order_one_over_n():
    few, many = (interpolation_error(Beta(5, 2), n, draws=2) for n in (25, 200))
    assert many.expected == pytest.approx(few.expected / 8, rel=0.25)
    assert many.expected < many.single


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match=r"^inner must lie between"):
        interpolation_error(Normal(), 10)
