from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.estimators.linear._search import Design, fixed_at, search, weighted_median
from rankwise.objectives import AveragePrecision, PairwiseAUC


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_least_squares_with_a_ridge_about_a_point(ridge: float) -> None:
    rng = np.random.default_rng(0)
    X, wanted, about = rng.normal(size=(40, 3)), rng.normal(size=40), np.array([1.0, 2, 3])
    target = torch.from_numpy(wanted)
    found, steps = search(
        Design(X, None, raw=True),
        lambda scores: 0.5 * ((scores - target) ** 2).sum(),
        np.append(about, 0.0),
        ridge=ridge,
        max_iter=200,
        tolerance=1e-9,
    )
    # The normal equations, with the intercept as a column of ones that has no ridge.
    A, R = np.column_stack([X, np.ones(40)]), np.diag([ridge] * 3 + [0.0])
    solution = np.linalg.solve(A.T @ A + R, A.T @ wanted + R @ np.append(about, 0))
    np.testing.assert_allclose(found, solution, rtol=1e-5, atol=1e-7)
    assert steps >= 1


def _data(groups: bool) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(60, generator=generator, dtype=torch.float64)
    target = (torch.rand(60, generator=generator) < 0.3).double()
    weight = torch.randint(1, 4, (60,), generator=generator).double()
    return scores, target, weight, torch.arange(60) % 4 if groups else None  # type: ignore[return-value]


@pytest.mark.parametrize("groups", [False, True])
def test_value_and_gradient_are_those_of_the_objective_where_it_is_fixed(groups: bool) -> None:
    scores, target, _, lists = _data(groups)
    objective = AveragePrecision(score_scale=1.0)
    kept = fixed_at(objective, scores, target, None, lists)
    one, other = (scores.clone().requires_grad_() for _ in range(2))
    kept(one).backward()
    objective(other, target, groups=lists).backward()
    assert kept(scores).item() == pytest.approx(objective(scores, target, groups=lists).item())
    torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize("groups", [False, True])
def test_the_gradient_is_that_of_the_function(groups: bool) -> None:
    scores, target, weight, lists = _data(groups)
    kept = fixed_at(AveragePrecision(), scores, target, weight, lists)
    away = scores + 0.3 * torch.randn(60, generator=torch.Generator().manual_seed(1)).double()
    assert torch.autograd.gradcheck(kept, away.requires_grad_())


def test_a_weight_is_that_many_rows() -> None:
    scores, target, weight, _ = _data(False)
    times = weight.long()
    many = [t.repeat_interleave(times) for t in (scores, target)]
    for objective in (AveragePrecision(), AveragePrecision(0.1, gain="fixed"), PairwiseAUC()):
        once = fixed_at(objective, scores, target, weight, None)(scores)
        repeated = fixed_at(objective, many[0], many[1], None, None)(many[0])
        torch.testing.assert_close(once, repeated)


def test_weighted_median_by_hand() -> None:
    values = torch.tensor([[3.0, 1.0, 2.0], [5.0, 7.0, 6.0]])
    weight = torch.tensor([[1.0, 1.0, 1.0], [4.0, 1.0, 0.0]])
    assert weighted_median(values, weight).tolist() == [[2.0], [5.0]]
    for row in np.random.default_rng(0).random((5, 9)):
        found = weighted_median(torch.tensor(row)[None], torch.ones(1, 9))
        assert found.item() == np.median(row)
