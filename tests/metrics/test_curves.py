import numpy as np
import pytest
import sklearn.metrics as sk
import torch

from rankwise import metrics as m


@pytest.fixture(params=range(4))
def case(request):
    rng = np.random.default_rng(request.param)
    decimals = [0, 1, 3, 12][request.param]
    scores = rng.standard_normal(150).round(decimals).astype(np.float32)
    return scores, rng.integers(0, 2, 150), rng.integers(0, 3, 150) * rng.random(150)


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_scikit_learn(case, weighted):
    scores, target, weight = case
    weight = weight if weighted else None
    ours = m.precision_recall_curve(scores, target, weight=weight)
    theirs = sk.precision_recall_curve(target, scores, sample_weight=weight)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-12)
    # Whether a point is on a line is decided by rounding where weights are fractions.
    for drop in (False,) if weighted else (False, True):
        ours = m.roc_curve(scores, target, weight=weight, drop_intermediate=drop)
        theirs = sk.roc_curve(target, scores, sample_weight=weight, drop_intermediate=drop)
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-12)


def test_torch_in_torch_out():
    curve = m.roc_curve(torch.tensor([0.1, 0.9, 0.5]), torch.tensor([0, 1, 0]))
    assert all(isinstance(part, torch.Tensor) for part in curve)
    assert curve.fpr.tolist() == [0, 0, 1]
    assert curve.tpr.tolist() == [0, 1, 1]


def test_masked_items_are_absent():
    scores, target = np.array([0.1, np.nan, 0.9]), np.array([0, 7, 1])
    curve = m.precision_recall_curve(scores, target, mask=np.array([True, False, True]))
    assert curve.thresholds.tolist() == [0.1, 0.9]
    assert curve.precision.tolist() == [1 / 2, 1, 1]
    assert curve.recall.tolist() == [1, 1, 0]


def test_the_area_under_the_curve_is_the_metric(case):
    scores, target, weight = case
    curve = m.roc_curve(scores, target, weight=weight)
    area = np.trapezoid(curve.tpr, curve.fpr)
    assert area == pytest.approx(m.auroc(scores, target, weight=weight), abs=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match="scores must be one list"):
        m.roc_curve(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="scores must not be empty"):
        m.roc_curve(np.zeros(0), np.zeros(0))
    with pytest.warns(RuntimeWarning, match="only one class"):
        assert np.isnan(m.roc_curve(np.array([1.0, 2.0]), np.array([1, 1])).fpr[-1])
