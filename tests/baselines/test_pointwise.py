from __future__ import annotations

import pytest
import torch
from tests.looks import Looks
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise import no_checks
from rankwise.baselines import ClassBalanced, CrossEntropy, Focal
from rankwise.objectives import OneVsRest


def test_lists_without_items_are_left_out_and_those_of_one_class_are_not():
    scores = torch.tensor([[0.0, 0.0], [3.0, 3.0]])
    mask = torch.tensor([[True, True], [False, False]])
    value = CrossEntropy()(scores, torch.ones(2, 2), mask=mask)
    torch.testing.assert_close(value, torch.tensor(2.0).log())


def test_classes_one_against_the_rest():
    torch.manual_seed(2)
    logits, target = torch.randn(20, 4), torch.randint(0, 3, (20,))  # the last class is absent
    hot = torch.nn.functional.one_hot(target, 4).float()
    expected = binary_cross_entropy_with_logits(logits, hot)
    torch.testing.assert_close(OneVsRest(CrossEntropy())(logits, target), expected)


def test_cross_entropy_is_that_of_torch():
    torch.manual_seed(0)
    scores, target = torch.randn(4, 30), torch.rand(4, 30) < 0.3
    expected = binary_cross_entropy_with_logits(scores, target.float())
    torch.testing.assert_close(CrossEntropy()(scores, target), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("labels", [torch.bool, torch.long, torch.float32, torch.float64])
@pytest.mark.parametrize("items", [0, 1, 600, 9000])
def test_any_kind_of_labels_and_scores_is_the_same_loss(dtype, labels, items):
    torch.manual_seed(1)
    scores = torch.randn(items, dtype=dtype, requires_grad=True)
    truth = torch.rand(items) < 0.3
    loss = CrossEntropy()(scores, truth.to(labels))
    wide = torch.promote_types(dtype, torch.float32)
    expected = binary_cross_entropy_with_logits(scores.to(wide), truth.to(wide))
    assert loss.dtype == wide
    torch.testing.assert_close(loss, expected if items else loss.new_zeros(()))
    loss.backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("wrong", [2, -1, 1.0001, -1e-30, float("inf"), float("nan")])
def test_a_label_outside_of_0_to_1_is_refused(wrong):
    target = torch.zeros(600)
    target[300] = wrong
    with pytest.raises(ValueError, match="target must lie between 0 and 1"):
        CrossEntropy()(torch.randn(600), target)
    with pytest.raises(ValueError, match="target must lie between 0 and 1"):
        CrossEntropy()(torch.randn(600), target, weight=torch.ones(600))
    if wrong in (2, -1):
        with pytest.raises(ValueError, match="target must lie between 0 and 1"):
            CrossEntropy()(torch.randn(600), target.long())


def test_a_soft_label_counts_as_that_share_of_both_classes():
    """A row with the share q is one row of each class, weighed with q and 1 − q."""
    torch.manual_seed(2)
    scores, share = torch.randn(50, dtype=torch.float64) * 5, torch.rand(50, dtype=torch.float64)
    twice, truth = scores.repeat(2), torch.arange(100) < 50
    expected = CrossEntropy()(twice, truth, weight=torch.cat([share, 1 - share]))
    torch.testing.assert_close(CrossEntropy()(scores, share), expected)
    torch.testing.assert_close(CrossEntropy()(scores, share, weight=torch.ones(50)), expected)
    groups = torch.arange(50) % 2
    parts = [CrossEntropy()(scores[groups == g], share[groups == g]) for g in (0, 1)]
    torch.testing.assert_close(CrossEntropy()(scores, share, groups=groups), sum(parts) / 2)


@pytest.mark.parametrize("make", [lambda: ClassBalanced((90, 10)), Focal])
def test_other_losses_of_items_refuse_soft_labels(make):
    with pytest.raises(ValueError, match="target must contain only 0 and 1"):
        make()(torch.randn(2), torch.tensor([0.5, 1.0]))


@pytest.mark.parametrize("wrong", [float("inf"), float("nan")])
def test_a_score_that_is_no_number_is_refused(wrong):
    scores = torch.randn(600)
    scores[3] = wrong
    with pytest.raises(ValueError, match="scores contains"):
        CrossEntropy()(scores, torch.arange(600) % 2)


@pytest.mark.parametrize("labels", [torch.float32, torch.long, torch.bool])
def test_unchecked_never_waits_for_a_value(labels):
    scores, target = torch.randn(8, 1, requires_grad=True), (torch.arange(8) % 2).unsqueeze(1)
    loss, target = CrossEntropy(), target.to(labels)
    with Looks() as checked:
        value = loss(scores, target)
    with no_checks(), Looks() as trusted:
        assert torch.equal(loss(scores, target), value)
    assert checked.count > 0
    assert trusted.count == 0


def test_unchecked_compiles_as_one_graph():
    scores, target = torch.randn(8, requires_grad=True), torch.rand(8)
    loss = CrossEntropy()
    with no_checks():
        compiled = torch.compile(loss, backend="eager", fullgraph=True)
        torch.testing.assert_close(compiled(scores, target), loss(scores, target))


def test_unchecked_still_wants_labels_for_all_scores():
    with no_checks(), pytest.raises(ValueError, match="target must have the shape of scores"):
        CrossEntropy()(torch.randn(8), torch.rand(1))


def test_class_balanced_between_plain_and_inverse_frequency():
    torch.manual_seed(3)
    scores, target = torch.randn(40), torch.rand(40) < 0.3
    plain = ClassBalanced((90, 10), beta=0.0)(scores, target)
    torch.testing.assert_close(plain, CrossEntropy()(scores, target))
    inverse = ClassBalanced((90, 10), beta=1 - 1e-9).class_weight
    torch.testing.assert_close(inverse, torch.tensor([0.2, 1.8]).double(), rtol=1e-4, atol=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClassBalanced((5, 5, 5)), "counts must be two"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_focal_with_gamma_zero_is_cross_entropy():
    torch.manual_seed(4)
    scores, target = torch.randn(40), torch.rand(40) < 0.3
    torch.testing.assert_close(Focal(0.0)(scores, target), CrossEntropy()(scores, target))


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
def test_focal_has_a_gradient_everywhere(gamma):
    scores = torch.tensor([1e4, -1e4, 0.0], requires_grad=True)
    Focal(gamma)(scores, torch.ones(3)).backward()
    assert scores.grad.isfinite().all()
    assert scores.grad[1] < 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Focal(-1.0), "gamma must be a finite number >= 0, got -1.0"),
        (lambda: Focal(alpha=1.0), "alpha must be None or between 0 and 1, got 1.0"),
    ],
)
def test_bad_options_of_focal_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
