"""Derivatives of every objective and baseline: right, or refused in one sentence."""

from __future__ import annotations

import pytest
import torch
from tests.every_loss import Loss, every_loss
from torch.autograd import forward_ad

from rankwise.baselines.alrp import ALRP
from rankwise.objectives import MinMaxAUC, PairwiseAUC, XRisk

LOSSES = every_loss()
every = pytest.mark.parametrize("loss", LOSSES, ids=str)
REFUSED = "first gradients only"
NO_GRAPH = "does not require grad"  # torch's own words for a gradient that is constant
NO_RULES = "which rankwise has no rules for; use torch.autograd.grad"


def direction(scores, seed=5):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(scores.shape, generator=generator, dtype=scores.dtype)


def curvature_along(loss: Loss, step: float = 1e-6):
    """H·d by central differences of the gradient."""
    d = direction(loss.scores)
    ahead, behind = (loss.gradient(loss.scores + sign * step * d) for sign in (1, -1))
    return (ahead - behind) / (2 * step)


def second_derivative(loss: Loss):
    scores = loss.scores.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss.at(scores), scores, create_graph=True)
    # A derivative that is not connected to the scores would be None: that is an error, too.
    (found,) = torch.autograd.grad((gradient * direction(scores)).sum(), scores, allow_unused=True)
    return found


@every
def test_a_second_derivative_is_that_of_the_gradient_or_is_refused(loss):
    expected = curvature_along(loss)
    made = loss.make()
    made = getattr(made, "objective", made)  # of wrappers
    try:
        found = second_derivative(loss)
    except RuntimeError as error:
        constant = NO_GRAPH in str(error) and not expected.any()
        assert constant or (REFUSED in str(error) and not made.twice_differentiable)  # noqa: PT017
        assert str(error).count(". ") <= constant  # noqa: PT017
        return
    assert made.twice_differentiable
    found = torch.zeros_like(expected) if found is None else found
    near = 1e-6 * max(1.0, float(expected.abs().max()))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=near)


@pytest.mark.parametrize(
    "name", ['"auc"', '"ndcg"', '"opauc"', '"recall"', '"info_nce"', '"smooth_ap"', '"xbm"']
)
def test_a_gradient_penalty_has_the_gradient_of_its_value(name):
    loss = next(loss for loss in LOSSES if loss.name == name)

    def penalty(scores):
        (gradient,) = torch.autograd.grad(loss.at(scores), scores, create_graph=True)
        return gradient.square().sum()

    scores = loss.scores.clone().requires_grad_()
    penalty(scores).backward()
    d, step = direction(scores), 1e-6
    ends = [penalty((scores.detach() + s * step * d).requires_grad_()) for s in (1, -1)]
    expected = (ends[0] - ends[1]).detach() / (2 * step)
    torch.testing.assert_close((scores.grad * d).sum(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ['"ap"', '"stable_ap"', '"soprc"', '"song"', '"error_driven_ap"'])
@pytest.mark.parametrize("of_inputs", [True, False])
def test_a_gradient_penalty_of_what_holds_a_part_constant_is_refused(name, of_inputs):
    loss = next(loss for loss in LOSSES if loss.name == name)
    scores = loss.scores.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss.at(scores), scores, create_graph=True)
    penalty = gradient.square().sum()
    with pytest.raises(RuntimeError, match=REFUSED):
        torch.autograd.grad(penalty, scores, allow_unused=True) if of_inputs else penalty.backward()


@every
def test_create_graph_changes_no_gradient(loss):
    scores = loss.scores.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss.at(scores), scores, create_graph=True)
    near = 1e-6 if "deep" in str(loss).lower() else 1e-12  # a network in single precision
    torch.testing.assert_close(gradient.detach(), loss.gradient(scores), rtol=1e-9, atol=near)


@pytest.mark.parametrize("limit", [70])
def test_large_batches_refuse_second_derivatives(monkeypatch, limit):
    monkeypatch.setattr("rankwise.objectives.base._BLOCK_ITEMS", limit)
    scores = torch.randn(6, 30, requires_grad=True)
    target = torch.arange(30).expand(6, 30) % 3 == 0
    value = PairwiseAUC()(scores, target)
    (gradient,) = torch.autograd.grad(value, scores, create_graph=True)
    with pytest.raises(RuntimeError, match=REFUSED):
        torch.autograd.grad(gradient.square().sum(), scores, allow_unused=True)


def test_a_remembered_average_of_two_batches_refuses_second_derivatives():
    loss = XRisk(lambda a, b: (a.unsqueeze(1) - b).tanh().mean(1), torch.exp, num_items=8)
    anchors, others = torch.randn(4, requires_grad=True), torch.randn(5, requires_grad=True)
    value = loss.of_batches(anchors, others, item_ids=torch.arange(4))
    for side in (anchors, others):
        (gradient,) = torch.autograd.grad(value, side, create_graph=True)
        with pytest.raises(RuntimeError, match=REFUSED):
            torch.autograd.grad(gradient.square().sum(), side, allow_unused=True)


def test_alrp_refuses_second_derivatives():
    scores = torch.randn(12, requires_grad=True)
    parts = ALRP()(scores, torch.arange(12) % 3 == 0, torch.rand(4))
    (gradient,) = torch.autograd.grad(sum(parts), scores, create_graph=True)
    with pytest.raises(RuntimeError, match="ALRP has first gradients only"):
        torch.autograd.grad(gradient.square().sum(), scores, allow_unused=True)


def test_the_negated_gradient_of_a_dual_variable_is_not_differentiated():
    loss = MinMaxAUC()
    with torch.no_grad():
        loss.alpha.fill_(0.5)
    value = loss(torch.randn(12), torch.arange(12) % 3 == 0)
    (gradient,) = torch.autograd.grad(value, loss.alpha, create_graph=True)
    with pytest.raises(RuntimeError, match=REFUSED):
        torch.autograd.grad(gradient.sum(), loss.alpha, allow_unused=True)


def right_or_refused(compute, expected, refused=NO_RULES):
    try:
        found = compute()
    except (RuntimeError, ValueError) as error:
        assert refused in str(error)  # noqa: PT017
        assert ". " not in str(error).replace("e. g. ", "")  # noqa: PT017
    else:
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)


@every
def test_torch_func_grad_is_right_or_refused(loss):
    value = loss.of_one()
    right_or_refused(lambda: torch.func.grad(value)(loss.scores), loss.gradient(loss.scores))


@every
def test_vmap_is_right_or_refused(loss):
    both = torch.stack([loss.scores, loss.scores / 2])
    expected = torch.stack([loss.at(scores) for scores in both])
    value = loss.of_one()
    right_or_refused(lambda: torch.func.vmap(value)(both), expected)


@every
def test_jvp_is_right_or_refused(loss):
    d = direction(loss.scores)
    expected = (loss.gradient(loss.scores) * d).sum()
    value = loss.of_one()
    right_or_refused(lambda: torch.func.jvp(value, (loss.scores,), (d,))[1], expected)

    def by_dual_numbers():
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(value(forward_ad.make_dual(loss.scores, d))).tangent

    right_or_refused(by_dual_numbers, expected)


@every
def test_the_meta_device_is_refused(loss):
    with pytest.raises(ValueError, match=r"must hold values, got a tensor on the meta device"):
        loss.at(loss.scores.to("meta"))
