from __future__ import annotations

import pytest
import torch

from rankwise.theory import Beta, Normal, Uniform

LAWS = [Normal(1.0), Beta(5, 2), Beta(2, 5), Uniform(0.5)]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_density_is_one_over_the_slope_of_the_quantile_function(law):
    u = torch.linspace(0.05, 0.95, 19, dtype=torch.float64)
    step = 1e-5
    slope = (law.quantile(u + step) - law.quantile(u - step)) / (2 * step)
    torch.testing.assert_close(law.density(law.quantile(u)), 1 / slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_curvature_is_the_second_derivative(law):
    u = torch.linspace(0.1, 0.9, 17, dtype=torch.float64)
    step = 1e-3
    second = (law.quantile(u + step) - 2 * law.quantile(u) + law.quantile(u - step)) / step**2
    torch.testing.assert_close(law.curvature(u), second, rtol=1e-3, atol=1e-6)


def test_beta_is_symmetric_and_known_in_closed_form():
    x = torch.tensor([0.2, 0.5, 0.8], dtype=torch.float64)
    torch.testing.assert_close(Beta(5, 2).quantile(6 * x**5 - 5 * x**6), x)
    u = torch.tensor([0.1, 0.6], dtype=torch.float64)
    torch.testing.assert_close(Beta(2, 5).quantile(u), 1 - Beta(5, 2).quantile(1 - u))


@pytest.mark.parametrize(
    ("make", "name"), [(lambda: Beta(0, 1), "a"), (lambda: Uniform(0, 0), "width")]
)
def test_errors_name_the_argument(make, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        make()
