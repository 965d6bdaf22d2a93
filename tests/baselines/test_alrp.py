from __future__ import annotations

import io

import pytest
import torch
from tests.compiling import check_compiled_step, quiet_compiler
from tests.objectives.contract import random_list
from torch import Tensor

from rankwise.baselines import ErrorDrivenAP
from rankwise.baselines.alrp import ALRP


def loop(scores: Tensor, target: Tensor, errors: Tensor, delta: float = 1.0):
    """The published loop over the positives: both parts, and the gradient of the scores."""
    positives, negatives = scores[target], scores[~target]
    to_positives, to_negatives = torch.zeros_like(positives), torch.zeros_like(negatives)
    ranking, localization = [], []
    for i in range(len(positives)):
        among = ((positives - positives[i]) / (2 * delta) + 0.5).clamp(0, 1)
        among = torch.where(torch.arange(len(among)) == i, 0, among)
        above = ((negatives - positives[i]) / (2 * delta) + 0.5).clamp(0, 1)
        false = above.sum()
        rank = 1 + among.sum() + false
        ranking.append(false / rank)
        localization.append((errors[i] + (among * errors).sum()) / rank)
        if false > 1e-5:
            to_positives[i] = -((among * errors.detach()).sum() + false) / rank
            to_negatives -= above / false * to_positives[i]
    gradient = torch.zeros_like(scores)
    gradient[target], gradient[~target] = to_positives, to_negatives
    return (
        torch.stack(ranking).mean(),
        torch.stack(localization).mean(),
        gradient / len(positives),
    )


@pytest.mark.parametrize("n", [40, 4000])
def test_value_and_gradients_equal_the_published_loop(n):
    scores, target = random_list(n, 0.1, seed=n)
    scores = (2 * scores).requires_grad_()
    errors = torch.rand(int(target.sum()), dtype=torch.float64).requires_grad_()
    parts = ALRP(balanced=False)(scores, target, errors)
    ranking, localization, gradient = loop(scores.detach(), target, errors)
    torch.testing.assert_close(parts.ranking, ranking)
    torch.testing.assert_close(parts.localization, localization)
    found, boxes = torch.autograd.grad(sum(parts), (scores, errors))
    torch.testing.assert_close(found, gradient, rtol=1e-9, atol=1e-15)
    torch.testing.assert_close(boxes, torch.autograd.grad(localization, errors)[0])


def test_with_perfect_boxes_it_is_the_ap_loss():
    scores, target = random_list(300, seed=1)
    scores.requires_grad_()
    errors = torch.zeros(int(target.sum()))
    parts = ALRP()(scores, target, errors)
    expected = ErrorDrivenAP(interpolated=False)(scores, target)
    torch.testing.assert_close(parts.ranking, expected)
    assert parts.localization == 0
    (a,) = torch.autograd.grad(parts.ranking, scores)
    (b,) = torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b)


def test_a_well_ranked_positive_is_left_alone():
    scores = torch.tensor([9.0, 5.0, 0.0], requires_grad=True)
    parts = ALRP(balanced=False)(scores, torch.tensor([1, 1, 0]), torch.tensor([0.5, 0.25]))
    assert parts.ranking == 0
    assert parts.localization.item() == pytest.approx((0.5 + (0.25 + 0.5) / 2) / 2)
    (gradient,) = torch.autograd.grad(parts.ranking, scores)
    assert (gradient == 0).all()


def test_balanced_boxes_weigh_as_much_as_the_whole():
    scores, target = random_list(300, seed=2)
    errors = torch.rand(int(target.sum()), dtype=torch.float64, requires_grad=True)
    scores.requires_grad_()
    plain = ALRP(balanced=False)(scores, target, errors)
    loss = ALRP()
    first = loss(scores, target, errors)
    torch.testing.assert_close(first.localization, sum(plain), rtol=1e-6, atol=0)
    (a,) = torch.autograd.grad(plain.localization, errors)
    (b,) = torch.autograd.grad(first.localization, errors)
    torch.testing.assert_close(b, a * (sum(plain) / plain.localization), rtol=1e-6, atol=0)


def test_the_balance_is_saved_and_left_alone_by_evaluation():
    scores, target = random_list(100, seed=3)
    errors = torch.rand(int(target.sum()))
    loss, other = ALRP(), ALRP()
    loss(scores.requires_grad_(), target, errors)
    before = loss.balance.value.clone()
    loss.eval()(2 * scores, target, errors / 2)
    assert torch.equal(loss.balance.value, before)
    file = io.BytesIO()
    torch.save(loss.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other.balance.value, before)
    assert bool(other.balance.seen.all())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_precision_and_huge_scores(dtype):
    scores = torch.tensor([1e4, -1e4, 0.0, 1e4, 3.0]).to(dtype).requires_grad_()
    errors = torch.tensor([0.5, 0.1], dtype=dtype, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        parts = ALRP()(scores, torch.tensor([1, 1, 0, 0, 0]), errors)
    for gradient in torch.autograd.grad(sum(parts), (scores, errors)):
        assert gradient.isfinite().all()
    assert parts.ranking.dtype == torch.float32


@pytest.mark.parametrize("n", [0, 5])
def test_without_positives_it_is_zero_with_a_graph(n):
    scores = torch.randn(n, requires_grad=True)
    errors = torch.zeros(0, requires_grad=True)
    with pytest.warns(RuntimeWarning, match="ALRP: no list of this batch has both classes"):
        parts = ALRP()(scores, torch.zeros(n), errors)
    gradients = torch.autograd.grad(sum(parts), (scores, errors))
    assert sum(parts) == 0
    assert all((gradient == 0).all() for gradient in gradients)


def test_without_negatives_only_the_boxes_are_left():
    parts = ALRP(balanced=False)(torch.zeros(2), torch.ones(2), torch.tensor([0.2, 0.4]))
    assert parts.ranking == 0
    assert parts.localization.item() == pytest.approx((0.4 + 0.5) / 1.5 / 2)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"errors must be one per positive, shape \(1,\), got"):
        ALRP()(torch.zeros(3), torch.tensor([1, 0, 0]), torch.zeros(3))
    with pytest.raises(ValueError, match=r"scores must be one list"):
        ALRP()(torch.zeros(3, 2), torch.zeros(3, 2), torch.zeros(0))
    with pytest.raises(ValueError, match="scores contains NaN"):
        ALRP()(torch.tensor([torch.nan, 0.0]), torch.tensor([1, 0]), torch.zeros(1))


@quiet_compiler
def test_compiled_it_runs_in_eager_mode_quietly():
    scores, target = random_list(20)
    errors = torch.rand(int(target.sum()), dtype=torch.float64)

    def make():
        loss = ALRP()
        return lambda *data: loss(*data).ranking

    check_compiled_step(make, scores, target, errors)


def test_a_column_of_scores_is_refused_and_a_list_without_positives_reported():
    loss = ALRP()
    with pytest.raises(ValueError, match=r"pass `scores.squeeze\(-1\)`"):
        loss(torch.rand(8, 1), torch.ones(8, 1), torch.rand(8))
    counts = r"ALRP: .* \(1 list, 0 positives, 8 negatives\)"
    with pytest.warns(RuntimeWarning, match=counts):
        assert sum(loss(torch.rand(8), torch.zeros(8), torch.rand(0))) == 0
    loss(torch.rand(8), torch.zeros(8), torch.rand(0))  # a warning would be an error here
