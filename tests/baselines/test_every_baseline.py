"""What every baseline must do; a new one gets all of it by a line in ``cases.CASES``."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager, nullcontext

import pytest
import torch
from tests.baselines.cases import CASES, Case
from tests.compiling import check_compiled_loss, check_compiled_step, quiet_compiler
from tests.objectives.contract import all_rows
from torch import Tensor

from rankwise import baselines
from rankwise.metrics import average_precision


def cases(chosen: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.name)


every = cases(CASES)
ranking = [case for case in CASES if not case.one_class_counts]
NOTHING_TO_RANK = "no list of this batch has (both|two) classes"


def reported(case: Case) -> AbstractContextManager[object]:
    """The warning of a batch in which there is nothing to rank, of those that rank."""
    if case.one_class_counts:
        return nullcontext()
    return pytest.warns(RuntimeWarning, match=NOTHING_TO_RANK)


def check_same(value: Tensor, expected: Tensor, scores: Tensor, case: Case) -> None:
    """Equal values, and equal gradients of the same scores."""
    close = dict(rtol=case.tolerance, atol=case.tolerance)
    torch.testing.assert_close(value, expected, **close)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b, **close)


def dense_mean(case: Case, lists: list[tuple[Tensor, Tensor]]) -> Tensor:
    """The mean of the dense formula over the lists that count."""
    least = 1 if case.one_class_counts else 2
    values = [case.dense(s, t) for s, t in lists if len(t) and len(t.unique()) >= least]
    return torch.stack(values).mean()


def test_the_table_has_every_baseline():
    made = {type(case.make()).__name__ for case in CASES}
    made |= {type(row.objective()).__name__ for row in all_rows()}  # the objectives' own table
    assert set(baselines.__all__) - made == {"CrossBatchMemory"}


@every
def test_value_and_gradient_equal_the_dense_formula(case):
    scores, target = case.sample(2, 3, 20)
    scores.requires_grad_()
    target[0, 1] = 0  # a list of one class
    lists = list(zip(scores.flatten(0, 1), target.flatten(0, 1), strict=True))
    check_same(case.make()(scores, target), dense_mean(case, lists), scores, case)


@every
def test_masked_items_are_absent(case):
    scores, target = case.sample(3, 20, seed=1)
    scores.requires_grad_()
    mask = torch.rand(3, 20, generator=torch.Generator().manual_seed(0)) < 0.7
    lists = [(scores[i][mask[i]], target[i][mask[i]]) for i in range(3)]
    absent = (~mask if case.classes is None else ~mask.unsqueeze(-1)).expand_as(scores)
    value = case.make()(scores.masked_fill(absent, torch.inf), target, mask=mask)
    check_same(value, dense_mean(case, lists), scores, case)


@every
def test_groups_are_lists_of_different_lengths(case):
    scores, target = case.sample(40, seed=2)
    scores.requires_grad_()
    generator = torch.Generator().manual_seed(0)
    groups = torch.tensor([7, 7, 7, -1, 3])[torch.randint(0, 5, (40,), generator=generator)]
    mask = torch.arange(40) % 5 > 0
    lists = [(scores[here], target[here]) for g in (-1, 3, 7) for here in [mask & (groups == g)]]
    value = case.make()(scores, target, groups=groups, mask=mask)
    check_same(value, dense_mean(case, lists), scores, case)


@every
def test_large_batches_go_block_by_block(case, monkeypatch):
    scores, target = case.sample(6, 20, seed=10)
    scores.requires_grad_()
    target[2] = 0  # a list of one class
    whole = case.make()(scores, target)
    monkeypatch.setattr("rankwise.objectives.base._BLOCK_ITEMS", 50)
    check_same(case.make()(scores, target), whole, scores, case)


@cases([case for case in CASES if case.copies])  # not those whose ranks count items
def test_weight_two_counts_twice(case):
    scores, target = case.sample(30, seed=3)
    scores.requires_grad_()
    weight = torch.randint(0, 4, (30,), generator=torch.Generator().manual_seed(0))
    copies = torch.repeat_interleave(torch.arange(30), weight)
    loss = case.make()
    value = loss(scores, target, weight=weight.double())
    check_same(value, loss(scores[copies], target[copies]), scores, case)


@cases([case for case in CASES if case.orderless])  # not those that read items in turn
def test_the_order_of_the_items_does_not_matter(case):
    scores, target = case.sample(30, seed=4)
    scores = (scores * 4).round() / 4  # with ties
    scores.requires_grad_()
    order = torch.randperm(30, generator=torch.Generator().manual_seed(0))
    loss = case.make()
    check_same(loss(scores[order], target[order]), loss(scores, target), scores, case)


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_large_scores_are_finite_in_every_precision(case, dtype):
    scores, target = case.sample(4, 25, seed=5)
    large = (1e4 * scores.sign()).to(dtype)
    for given in (large, large * scores.abs().to(dtype), torch.zeros_like(large)):
        leaf = given.clone().requires_grad_()
        value = case.make()(leaf, target)
        assert value.isfinite()
        assert value.dtype == torch.float32
        value.backward()
        assert leaf.grad.isfinite().all()


@every
def test_half_precision_is_the_same_number(case):
    scores, target = case.sample(4, 25, seed=6)
    half, loss = scores.half(), case.make()
    torch.testing.assert_close(loss(half, target), loss(half.float(), target), rtol=1e-5, atol=1e-6)


@every
def test_autocast_does_not_reach_inside(case):
    scores, target = case.sample(4, 25, seed=7)
    scores, loss = scores.float(), case.make()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = loss(scores, target)
    torch.testing.assert_close(inside, loss(scores, target), rtol=0, atol=0)


@every
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5), (1,), (5,)])
def test_a_batch_of_one_class_or_none(case, shape):
    scores, target = case.sample(*shape)
    scores.requires_grad_()
    with reported(case):
        value = case.make()(scores, torch.zeros_like(target))
    (gradient,) = torch.autograd.grad(value, scores)
    if case.one_class_counts and scores.numel():
        assert value > 0
        assert gradient.abs().sum() > 0
    else:
        assert value == 0
        assert (gradient == 0).all()


@cases(ranking)
def test_a_batch_of_one_class_is_reported_once_per_loss(case):
    scores, target = case.sample(2, 16)
    for loss in (case.make(), case.make()):
        with pytest.warns(
            RuntimeWarning, match=rf"{type(loss).__name__}: {NOTHING_TO_RANK} \("
        ) as told:
            loss(scores, torch.zeros_like(target))
        assert told[0].filename == __file__  # where the loss was called
        loss(scores, torch.zeros_like(target))  # a warning would be an error here


@every
@pytest.mark.parametrize("shape", [(32, 1), (1, 1), (2, 8, 1)])
def test_a_column_of_scores_is_refused_by_losses_that_rank(case, shape):
    scores = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    target = torch.arange(scores.numel()).reshape(shape) % 2
    if case.classes is not None:  # one logit per item: no class is above another
        refused = r"pass `scores.squeeze\(-1\)`|as many as counts, got 1|items, 4\), got"
        with pytest.raises(ValueError, match=refused):
            case.make()(scores, target.squeeze(-1))
    elif case.one_class_counts:
        value = case.make()(scores, target)
        torch.testing.assert_close(value, case.make()(scores.flatten(), target.flatten()))
        assert (torch.autograd.grad(value, scores)[0] != 0).all()
    else:
        with pytest.raises(ValueError, match=r"pass `scores.squeeze\(-1\)`"):
            case.make()(scores, target)


@every
def test_labels_in_place_of_scores_are_refused(case):
    scores, target = case.sample(12)
    with pytest.raises(ValueError, match="scores must be a floating-point tensor"):
        case.make()((scores > 0).long(), target)


@every
def test_nan_and_wrong_targets_raise(case):
    scores, target = case.sample(12)
    with pytest.raises(ValueError, match="scores contains NaN"):
        case.make()(scores.masked_fill(scores > 0.5, torch.nan), target)
    with pytest.raises(ValueError, match="target must"):
        case.make()(scores, target[:-1])
    with pytest.raises(ValueError, match="target must"):
        case.make()(scores, target.long() + 4)


@every
def test_copies_and_state_give_the_same_number(case):
    scores, target = case.sample(3, 20, seed=8)
    loss, fresh = case.make(), case.make()
    fresh.load_state_dict(loss.state_dict())
    expected = loss(scores, target)
    for other in (copy.deepcopy(loss), fresh, loss.eval()):
        torch.testing.assert_close(other(scores, target), expected, rtol=0, atol=0)
    assert str(loss).startswith(type(loss).__name__)


@every
def test_following_its_gradient_ranks_better(case):
    scores, target = case.sample(1, 60, seed=9)
    scores = (0.3 * scores).requires_grad_()
    optimizer, loss = torch.optim.Adam([scores], lr=0.02), case.make()

    def precision() -> Tensor:
        if case.classes is None:
            return average_precision(scores.detach(), target)
        return average_precision(scores.detach()[0, :, 0], target[0] == 0)

    before = precision()
    for _ in range(30):
        optimizer.zero_grad()
        loss(scores, target).backward()
        optimizer.step()
    assert precision() > before + 0.1


@every
@quiet_compiler
def test_compiled_it_runs_in_eager_mode_quietly(case):
    scores, target = case.sample(20, seed=6)
    check_compiled_loss(case.make, scores, target)
    check_compiled_step(case.make, scores, target)
