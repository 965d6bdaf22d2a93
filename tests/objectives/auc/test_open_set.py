"""OpenAUC and its metric against loops over all pairs of a known and an open item."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.objectives.auc import OpenAUC, open_auc
from rankwise.pairs import Logistic, Square, SquaredHinge

CLASSES = 4


def sample(n=60, seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(n, CLASSES, dtype=torch.float64, generator=generator)
    target = torch.randint(0, CLASSES + 1, (n,), generator=generator)
    known = target < CLASSES
    logits[known] += 2 * torch.nn.functional.one_hot(target[known], CLASSES)
    return logits.requires_grad_(), target


def brute_loss(logits, target, surrogate, r=None, open_weight=1.0):
    r = -logits.max(1).values if r is None else r
    known = [i for i in range(len(target)) if 0 <= target[i] < CLASSES]
    unknown = [j for j in range(len(target)) if target[j] == CLASSES]
    entropy = torch.stack([-logits[i].log_softmax(0)[target[i]] for i in known]).mean()
    pairs = [
        surrogate.value(r[j] - r[i]) if logits[i].argmax() == target[i] else 0 * r[i]
        for i in known
        for j in unknown
    ]
    return entropy + open_weight * torch.stack(pairs).mean()


def brute_metric(logits, target, r=None, weight=None, ties="standard"):
    r = -logits.max(1).values if r is None else r
    weight = torch.ones(len(target)) if weight is None else weight
    total = right = 0.0
    for i in range(len(target)):
        for j in range(len(target)):
            if 0 <= target[i] < CLASSES and target[j] == CLASSES:
                highest = logits[i] == logits[i].max()
                share = float(highest[target[i]]) / int(highest.sum())
                tied = 0.5
                if ties == "against":
                    share, tied = float(share == 1), 0.0
                ranked = 1.0 if r[i] < r[j] else tied * float(r[i] == r[j])
                mass = float(weight[i] * weight[j])
                total, right = total + mass, right + mass * share * ranked
    return right / total


@pytest.mark.parametrize("surrogate", [Square(1.0), SquaredHinge(0.5), Logistic(2.0)], ids=str)
@pytest.mark.parametrize("own", [True, False])
def test_value_and_gradient_equal_the_loops(surrogate, own):
    logits, target = sample()
    r = None if own else torch.randn(60, dtype=torch.float64, requires_grad=True)
    value = OpenAUC(surrogate, open_weight=0.3)(logits, target, open_scores=r)
    expected = brute_loss(logits, target, surrogate, r, 0.3)
    torch.testing.assert_close(value, expected, rtol=1e-7, atol=1e-9)
    for leaf in (logits,) if own else (logits, r):
        (a,), (b,) = (torch.autograd.grad(v, leaf, retain_graph=True) for v in (value, expected))
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-9)


def test_four_items_by_hand():
    logits = torch.tensor([[3.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 2.0]])
    target = torch.tensor([0, 1, 1, 2])  # right, right, wrong, open
    # r = −3, −1, −2, −2: x = r_j − r_i is 1 and −1 for the two that are right
    softplus = [math.log(1 + math.exp(-3)), math.log(1 + math.exp(-1)), math.log(1 + math.exp(1))]
    expected = sum(softplus) / 3 + ((1 - 1) ** 2 + (1 + 1) ** 2) / 3
    assert OpenAUC()(logits, target).item() == pytest.approx(expected)
    assert open_auc(logits, target).item() == pytest.approx(1 / 3)


def test_weight_two_counts_twice():
    logits, target = sample()
    weight = torch.randint(0, 4, (60,), generator=torch.Generator().manual_seed(1))
    copies = torch.repeat_interleave(torch.arange(60), weight)
    loss = OpenAUC(SquaredHinge(1.0))
    torch.testing.assert_close(
        loss(logits, target, weight=weight.double()), loss(logits[copies], target[copies])
    )
    torch.testing.assert_close(
        open_auc(logits, target, weight=weight), open_auc(logits[copies], target[copies])
    )


def test_lists_masks_and_groups():
    parts = [sample(20, seed=s) for s in range(3)]
    expected = torch.stack([brute_loss(*part, Square(1.0)) for part in parts]).mean()
    logits = torch.stack([z.detach() for z, _ in parts]).requires_grad_()
    target = torch.stack([t for _, t in parts])
    loss = OpenAUC()
    torch.testing.assert_close(loss(logits, target), expected)
    groups = torch.arange(3).repeat_interleave(20)
    flat = loss(logits.flatten(0, 1), target.flatten(), groups=groups)
    torch.testing.assert_close(flat, expected)
    padded = torch.cat([logits, torch.full((3, 4, CLASSES), torch.nan)], dim=1)
    wide = torch.cat([target, torch.zeros(3, 4, dtype=torch.long)], dim=1)
    value = loss(padded, wide, mask=torch.arange(24).expand(3, 24) < 20)
    torch.testing.assert_close(value, expected)
    (a,), (b,) = (
        torch.autograd.grad(value, logits),
        torch.autograd.grad(loss(logits, target), logits),
    )
    torch.testing.assert_close(a, b)
    left_out = torch.cat([target, torch.full((3, 4), -1)], dim=1)
    torch.testing.assert_close(loss(padded, left_out), expected)


def test_lists_that_lack_a_side():
    logits, target = sample()
    known, unknown = target < CLASSES, target == CLASSES
    loss = OpenAUC()
    only_known = torch.nn.functional.cross_entropy(logits[known], target[known])
    torch.testing.assert_close(loss(logits[known], target[known]), only_known)
    known_class = (
        r"OpenAUC: no list of this batch has an item of a known class \(7 items of 1 class\)"
    )
    with pytest.warns(RuntimeWarning, match=known_class):
        value = loss(logits[unknown], target[unknown])
    (gradient,) = torch.autograd.grad(value, logits)
    assert value.item() == 0
    assert (gradient == 0).all()
    assert loss(logits[:0], target[:0]).item() == 0


def test_nobody_right_leaves_the_cross_entropy():
    logits = torch.zeros(5, CLASSES, dtype=torch.float64, requires_grad=True)  # all tied: not right
    target = torch.tensor([0, 1, 2, CLASSES, CLASSES])
    value = OpenAUC()(logits, target)
    assert value.item() == pytest.approx(math.log(CLASSES))
    assert open_auc(logits, target, ties="against").item() == 0
    assert open_auc(logits, target).item() == pytest.approx(0.5 / CLASSES)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_large_logits_are_finite_in_every_precision(dtype):
    logits, target = sample()
    for large in (1e4 * logits.detach().sign(), 1e4 * logits.detach().clamp(-1, 1)):
        leaf = large.to(dtype).requires_grad_()
        value = OpenAUC()(leaf, target)
        (gradient,) = torch.autograd.grad(value, leaf)
        assert value.isfinite()
        assert gradient.isfinite().all()


@pytest.mark.parametrize("surrogate", [Square(1.0), Logistic(1.0)], ids=str)
def test_gradcheck(surrogate):
    logits, target = sample(12, seed=3)
    loss = OpenAUC(surrogate)
    assert torch.autograd.gradcheck(lambda z: loss(z, target), (logits,), atol=1e-6)


ITEMS = st.lists(
    st.tuples(
        st.lists(st.integers(-3, 3), min_size=CLASSES, max_size=CLASSES),
        st.integers(-1, CLASSES),
        st.integers(0, 3),
    ),
    min_size=2,
    max_size=12,
).filter(
    lambda items: (
        any(t == CLASSES and w for _, t, w in items)
        and any(0 <= t < CLASSES and w for _, t, w in items)
    )
)


@given(items=ITEMS, ties=st.sampled_from(["standard", "against"]))
@settings(max_examples=60)
def test_the_metric_is_the_share_of_pairs_with_ties_and_weights(items, ties):
    logits = torch.tensor([z for z, _, _ in items], dtype=torch.float64)
    target = torch.tensor([t for _, t, _ in items])
    weight = torch.tensor([w for _, _, w in items])
    expected = brute_metric(logits, target, weight=weight, ties=ties)
    assert float(open_auc(logits, target, weight=weight, ties=ties)) == pytest.approx(expected)
    r = logits[:, 0].flip(0)
    expected = brute_metric(logits, target, r, weight, ties)
    found = open_auc(
        logits.numpy(), target.numpy(), open_scores=r.numpy(), weight=weight.numpy(), ties=ties
    )
    assert isinstance(found, np.floating)
    assert found == pytest.approx(expected)


@given(items=ITEMS, surrogate=st.sampled_from([Square(1.0), SquaredHinge(1.0)]))
@settings(max_examples=40)
def test_the_loss_in_bits_bounds_the_metric(items, surrogate):
    logits = torch.tensor([z for z, _, _ in items], dtype=torch.float64)
    target = torch.tensor([t for _, t, _ in items])
    exact = float(open_auc(logits, target, ties="against"))
    assert float(OpenAUC(surrogate)(logits, target)) / math.log(2) >= 1 - exact - 1e-12


def test_a_metric_without_a_side_has_no_value():
    logits, target = sample()
    for absent in (target < CLASSES, target == CLASSES):
        with pytest.warns(RuntimeWarning, match="only one class"):
            assert math.isnan(open_auc(logits, target.masked_fill(absent, -1)))


def test_training_on_it_raises_the_metric():
    torch.manual_seed(0)
    centers = 2 * torch.eye(CLASSES)
    target = torch.randint(0, CLASSES + 1, (300,))
    x = torch.cat([centers, torch.zeros(1, CLASSES)])[target] + 0.7 * torch.randn(300, CLASSES)
    model = torch.nn.Sequential(
        torch.nn.Linear(CLASSES, 32), torch.nn.ReLU(), torch.nn.Linear(32, CLASSES)
    )

    def trained(loss):
        network = copy.deepcopy(model)
        optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
        for _ in range(150):
            optimizer.zero_grad()
            loss(network(x), target).backward()
            optimizer.step()
        return float(open_auc(network(x), target))

    def close_only(logits, t):
        return torch.nn.functional.cross_entropy(logits, t.masked_fill(t == CLASSES, -100))

    assert trained(OpenAUC()) > trained(close_only) + 0.03


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(target=torch.full((60,), CLASSES + 1)), f"class ids from 0 to {CLASSES}, or -1"),
        (dict(scores=torch.zeros(60)), r"must have shape \(.*items, classes\), got \(60,\)"),
        (dict(scores=torch.zeros(60, 0)), r"must have shape \(.*items, classes\), got \(60, 0\)"),
        (dict(scores=torch.zeros(60, 4).long()), "scores must be a floating-point tensor"),
        (dict(scores=torch.full((60, 4), torch.nan)), "scores contains NaN"),
        (dict(open_scores=torch.zeros(5)), "open_scores must have the shape of target"),
        (dict(weight=-torch.ones(60)), "weight must not be negative, got -1"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    logits, target = sample()
    given = {"scores": logits, "target": target} | arguments
    scores, classes = given.pop("scores"), given.pop("target")
    for function in (OpenAUC(), open_auc):
        with pytest.raises(ValueError, match=message):
            function(scores, classes, **given)


def test_the_metric_is_of_one_list():
    with pytest.raises(ValueError, match=r"shape \(items, classes\), got \(2, 3, 4\)"):
        open_auc(torch.zeros(2, 3, 4), torch.zeros(2, 3).long())
    with pytest.raises(ValueError, match="ties must be one of 'standard', 'against'"):
        open_auc(torch.zeros(3, 4), torch.zeros(3).long(), ties="half")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(surrogate=1.0), r"surrogate must be one of rankwise\.pairs"),
        (dict(open_weight=0.0), "open_weight must be a finite number > 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        OpenAUC(**options)
