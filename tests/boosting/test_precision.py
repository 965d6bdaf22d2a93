from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.boosting.gradient import ObjectiveGradient
from rankwise.boosting.precision import LogPrecision, unsaturated
from rankwise.metrics import average_precision
from rankwise.objectives import AveragePrecision, PairwiseAUC
from rankwise.pairs import Logistic, OneSidedHuber, ZeroOne

from .cases import differences, ranked, second_differences

EXACT = {"false_positives": ZeroOne(), "true_positives": ZeroOne(), "score_scale": 1.0}
SMOOTH = {"false_positives": Logistic(1.0), "true_positives": ZeroOne(), "score_scale": 1.0}


def test_it_is_the_logarithm_of_the_precisions() -> None:
    # Positives at ranks 1 and 3 of four: precisions 1 and 2/3.
    loss = LogPrecision(**EXACT)
    value = loss(torch.tensor([4.0, 3, 2, 1]), torch.tensor([1, 0, 1, 0]))
    assert float(value) == pytest.approx(-np.log(2 / 3) / 2)


@pytest.mark.parametrize("seed", range(5))
def test_it_bounds_the_loss_of_average_precision(seed) -> None:
    scores, rows = ranked(50, seed=seed)
    value = LogPrecision(**EXACT)(torch.from_numpy(scores), torch.from_numpy(rows.target))
    assert float(value) >= 1 - float(average_precision(scores, rows.target)) - 1e-12


def test_gradient_and_bound() -> None:
    scores, rows = ranked(40)
    loss = LogPrecision(**SMOOTH)

    def risk(s):
        return float(loss(torch.from_numpy(s), torch.from_numpy(rows.target)))

    slope, bound = ObjectiveGradient(loss, "bound").derivatives(scores, rows)
    np.testing.assert_allclose(slope, differences(risk, scores), rtol=1e-4, atol=1e-6)
    true = second_differences(risk, scores)
    assert (bound >= true - 1e-3 * np.abs(true).max()).all()


def test_a_positive_at_the_bottom_is_not_given_up() -> None:
    target = torch.zeros(201)
    target[-2:] = 1
    scores = torch.cat([torch.linspace(1, 0, 199), torch.tensor([2.0, -9])]).requires_grad_()
    slopes = []
    for loss in (LogPrecision(**SMOOTH), AveragePrecision(**SMOOTH, correction="fixed")):
        (slope,) = torch.autograd.grad(loss(scores, target), scores)
        slopes.append(-float(slope[-1]))
    assert slopes[0] > 100 * slopes[1] > 0


def test_only_average_precision_needs_it() -> None:
    auc = PairwiseAUC()
    assert unsaturated(auc) is auc
    given = AveragePrecision(0.1, false_positives=OneSidedHuber(0.7), score_scale=2.0)
    found = unsaturated(given)
    assert isinstance(found, LogPrecision)
    assert found.options == given.options
    assert unsaturated(found).options == given.options
