"""MultiClassAUC against the mean over all pairs of classes written out."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.metrics import auroc
from rankwise.objectives.auc import MultiClassAUC
from rankwise.pairs import Exponential, Hinge, Logistic, Square, SquaredHinge, ZeroOne


def one_against_one(logits, target, surrogate, softmax=True):
    f = logits.softmax(1) if softmax else logits
    pairs = []
    for a in target.unique():
        for b in target.unique():
            if a != b:
                x = f[target == a, a][:, None] - f[target == b, a]
                pairs.append(surrogate.value(x).mean())
    return torch.stack(pairs).mean()


def one_against_rest(logits, target, surrogate, softmax=True):
    f = logits.softmax(1) if softmax else logits
    classes = [
        surrogate.value(f[target == a, a][:, None] - f[target != a, a]).mean()
        for a in target.unique()
    ]
    return torch.stack(classes).mean()


ORACLES = {"ovo": one_against_one, "ovr": one_against_rest}
by_scheme = pytest.mark.parametrize("scheme", ["ovo", "ovr"])
by_surrogate = pytest.mark.parametrize(
    "surrogate",
    [Square(1.0), Square(0.5), SquaredHinge(1.0), Hinge(1.0), Logistic(3.0), Exponential(1.0)],
    ids=str,
)


def sample(n=60, classes=6, seed=0):
    """Classes of very different sizes; the last one has no item."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(n, classes, dtype=torch.float64, generator=generator)
    share = torch.rand(n, generator=generator, dtype=torch.float64) ** 2
    return logits.requires_grad_(), (share * (classes - 1)).long()


@by_scheme
@by_surrogate
@pytest.mark.parametrize("softmax", [True, False])
def test_value_and_gradient_equal_the_pairs_of_classes(surrogate, scheme, softmax):
    logits, target = sample()
    value = MultiClassAUC(surrogate, scheme=scheme, softmax=softmax)(logits, target)
    expected = ORACLES[scheme](logits, target, surrogate, softmax)
    torch.testing.assert_close(value, expected, rtol=1e-7, atol=1e-9)
    (a,), (b,) = torch.autograd.grad(value, logits), torch.autograd.grad(expected, logits)
    torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-9)


@by_scheme
@by_surrogate
def test_weight_two_counts_twice(surrogate, scheme):
    logits, target = sample()
    weight = torch.randint(0, 4, (60,), generator=torch.Generator().manual_seed(1))
    weight[target == 2] = 0  # a class whose items all weigh nothing is absent
    copies = torch.repeat_interleave(torch.arange(60), weight)
    value = MultiClassAUC(surrogate, scheme=scheme)(logits, target, weight=weight.double())
    expected = ORACLES[scheme](logits[copies], target[copies], surrogate)
    torch.testing.assert_close(value, expected, rtol=1e-7, atol=1e-9)


@given(target=st.lists(st.integers(0, 3), min_size=2, max_size=12))
@settings(max_examples=30)
def test_whatever_classes_the_batch_has(target):
    target = torch.tensor(target)
    logits = torch.randn(len(target), 4, generator=torch.Generator().manual_seed(0)).double()
    for scheme, oracle in ORACLES.items():
        one_class = len(target.unique()) == 1
        told = pytest.warns(RuntimeWarning, match="no list of this batch has two classes")
        with told if one_class else nullcontext():
            value = MultiClassAUC(scheme=scheme)(logits, target)
        expected = torch.zeros(()).double() if one_class else oracle(logits, target, Square(1.0))
        torch.testing.assert_close(value, expected)


def test_two_classes_of_one_score_are_the_binary_loss():
    """f₁ = −f₀: both schemes are then the pairwise loss of the difference, from both sides."""
    generator = torch.Generator().manual_seed(2)
    scores = torch.randn(50, dtype=torch.float64, generator=generator)
    target = (torch.rand(50, generator=generator) < 0.3).long()
    logits = torch.stack([-scores, scores], dim=1)
    for scheme in ORACLES:
        value = MultiClassAUC(ZeroOne(), scheme=scheme, softmax=False)(logits, target)
        torch.testing.assert_close(value, 1 - auroc(scores, target))


@by_scheme
def test_gradcheck(scheme):
    logits, target = sample(12, 3, seed=4)
    loss = MultiClassAUC(scheme=scheme)
    assert torch.autograd.gradcheck(lambda z: loss(z, target), (logits,))


def test_long_batches_far_from_zero_keep_their_digits():
    torch.manual_seed(2)
    logits = 1e3 + torch.randn(2_000, 3)
    target = torch.randint(0, 3, (2_000,))
    value = MultiClassAUC(softmax=False)(logits, target)
    expected = one_against_one(logits.double(), target, Square(1.0), softmax=False)
    torch.testing.assert_close(value.double(), expected, rtol=1e-6, atol=0)


def test_a_small_loss_is_a_good_ranking():
    torch.manual_seed(3)
    target = torch.randint(0, 3, (200,))
    logits = torch.randn(200, 3, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        MultiClassAUC()(logits, target).backward()
        optimizer.step()
    areas = [auroc(logits.detach()[:, c], target == c) for c in range(3)]
    assert min(areas) > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(surrogate=0.5), r"surrogate must be one of rankwise\.pairs.*got 0.5"),
        (dict(scheme="all"), "scheme must be one of 'ovo', 'ovr', got 'all'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        MultiClassAUC(**options)


def test_several_labels_by_item_are_refused():
    with pytest.raises(ValueError, match=r"target must be class ids of shape \(4,\)"):
        MultiClassAUC()(torch.zeros(4, 3), torch.zeros(4, 3, dtype=torch.long))
