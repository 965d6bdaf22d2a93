"""FairnessConstraint: its arithmetic, its state, and the gap that it closes on new data."""

from __future__ import annotations

import copy
import io
from statistics import NormalDist

import pytest
import torch

from rankwise import no_checks
from rankwise.metrics import auroc, average_precision
from rankwise.objectives import AveragePrecision, FairnessConstraint, PairwiseAUC
from rankwise.pairs import Sigmoid

EPSILON = 0.05


def draw(items, seed):
    """Group 0 is seen in the first feature, the fewer items of group 1 in the second."""
    generator = torch.Generator().manual_seed(seed)
    group = (torch.rand(items, generator=generator) < 0.25).long()
    target = torch.rand(items, generator=generator) < 0.4
    x = torch.randn(items, 2, generator=generator)
    x[torch.arange(items), group] += 1.6 * target
    return x, target, group


def trained(loss, data, steps=150, start=None):
    x, target, group = data
    weights = torch.tensor([0.5, 0.5]) if start is None else start
    weights = weights.clone().requires_grad_()
    optimizer = torch.optim.SGD([weights], lr=0.5)
    for _ in range(steps):
        optimizer.zero_grad()
        beside = {"attribute": group} if isinstance(loss, FairnessConstraint) else {}
        loss(x @ weights, target, **beside).backward()
        optimizer.step()
    return weights.detach()


def gap(weights, data, kind="auc"):
    """Metric of group 0 less that of group 1."""
    x, target, group = data
    scores = x @ weights
    if kind == "ap":
        return float(
            average_precision(scores[group == 0], target[group == 0])
            - average_precision(scores[group == 1], target[group == 1])
        )
    inside = [group == g if kind == "auc" else (group == g) == target for g in (0, 1)]
    return float(
        auroc(scores[inside[0]], target[inside[0]]) - auroc(scores[inside[1]], target[inside[1]])
    )


def trained_on_batches(loss, steps=250):
    """The weights after steps on new batches of 400: what is learned is of the population."""
    weights = torch.tensor([0.5, 0.5], requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=0.3)
    for step in range(steps):
        x, target, group = draw(400, 100 + step)
        beside = {"attribute": group} if isinstance(loss, FairnessConstraint) else {}
        optimizer.zero_grad()
        loss(x @ weights, target, **beside).backward()
        optimizer.step()
    return weights.detach()


def true_gap(weights):
    """Of both kinds of AUC: the score of a positive less a negative is N(1.6·w_g, 2·|w|²)."""
    first, second = (1.6 * weights / weights.norm() / 2**0.5).tolist()
    return NormalDist().cdf(first) - NormalDist().cdf(second)


@pytest.fixture(scope="module")
def free():
    return trained_on_batches(PairwiseAUC(Sigmoid(2.0)))


@pytest.mark.parametrize("kind", ["auc", "xauc", "ap"])
def test_the_bound_holds_on_new_data_where_it_did_not_without(kind, free):
    new = draw(8_000, 1)
    objective = PairwiseAUC(Sigmoid(2.0))
    loss = FairnessConstraint(objective, 2, EPSILON, metric=kind, multiplier_rate=0.3)
    bound = trained_on_batches(loss)
    assert true_gap(free) > 3 * EPSILON
    if kind != "ap":
        assert abs(true_gap(bound)) <= EPSILON
    assert abs(gap(bound, new, kind)) < EPSILON + 0.025  # its standard error is 0.014 and more
    assert gap(free, new, kind) > 0.15
    x, target, _ = new
    cost = float(auroc(x @ free, target) - auroc(x @ bound, target))
    assert 0 < cost < 0.03
    assert loss.multipliers[1, 0] > 0


def two_groups():
    scores = torch.tensor([2.0, 0.0, 0.0, 1.0], requires_grad=True)
    return scores, torch.tensor([1, 0, 1, 0]), torch.tensor([0, 0, 1, 1])


def test_the_value_is_the_lagrangian():
    scores, target, group = two_groups()
    loss = FairnessConstraint(PairwiseAUC(), 2, 0.1, penalty=2.0, multiplier_rate=0.5)
    sigmoid = Sigmoid(1.0)
    risks = [sigmoid.value(scores[0] - scores[1]), sigmoid.value(scores[2] - scores[3])]
    plain = PairwiseAUC()(scores, target)
    violation = 1 - 0 - 0.1
    for multiplier in (0.0, 0.5 * violation):
        factor = multiplier + 2.0 * violation
        value = loss(scores, target, attribute=group)
        expected = plain + factor * (risks[1] - risks[0] - 0.1)
        torch.testing.assert_close(value, expected)
        pair = [torch.autograd.grad(v, scores, retain_graph=True)[0] for v in (value, expected)]
        torch.testing.assert_close(*pair)
    torch.testing.assert_close(
        loss.multipliers, torch.tensor([[0.0, 0.0], [2 * 0.5 * violation, 0.0]])
    )


def test_where_the_bound_holds_it_is_the_objective():
    scores, target, _ = two_groups()
    alike = torch.tensor([0, 0, 0, 0])
    loss = FairnessConstraint(PairwiseAUC(), 2)
    assert loss(scores, target, attribute=alike) == PairwiseAUC()(scores, target)
    wide = FairnessConstraint(PairwiseAUC(), 2, 0.99)
    ordered = torch.tensor([3.0, 0.0, 2.0, 1.0])
    assert wide(ordered, target, attribute=alike + torch.tensor([0, 0, 1, 1])) == PairwiseAUC()(
        ordered, target
    )
    assert (wide.multipliers == 0).all()


def test_multipliers_fall_back_to_zero_once_the_bound_holds():
    scores, target, group = two_groups()
    loss = FairnessConstraint(PairwiseAUC(), 2, 0.1, ema_rate=1.0, multiplier_rate=1.0)
    loss(scores, target, attribute=group)
    assert loss.multipliers[1, 0] == pytest.approx(0.9)
    fair = torch.tensor([2.0, 0.0, 2.0, 0.0])
    seen = []
    for _ in range(10):
        loss(fair, target, attribute=group)
        seen.append(float(loss.multipliers[1, 0]))
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == 0


def test_evaluation_and_refused_batches_change_nothing():
    scores, target, group = two_groups()
    loss = FairnessConstraint(PairwiseAUC(), 2)
    loss(scores, target, attribute=group)
    before = copy.deepcopy(loss.state_dict())
    with torch.no_grad():
        loss(-scores, target, attribute=group)
    with pytest.raises(ValueError, match="scores contains NaN"):
        loss(scores * torch.nan, target, attribute=group)
    loss.eval()
    loss(-scores, target, attribute=group)
    for name, value in loss.state_dict().items():
        assert torch.equal(value, before[name])


def test_a_killed_run_resumes_to_the_same_bit():
    data = draw(200, 3)

    def make():
        return FairnessConstraint(AveragePrecision(), 2, 0.01, multiplier_rate=0.5)

    straight = trained(make(), data, steps=8)
    first = make()
    weights = trained(first, data, steps=5)
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second = make()
    second.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(trained(second, data, steps=3, start=weights), straight)


def test_lists_masks_and_no_checks():
    x, target, group = draw(60, 4)
    scores = x[:, 0]

    def value(*args, **given):
        return FairnessConstraint(PairwiseAUC(), 2, 0.0)(*args, **given)

    rows = value(scores.reshape(3, 20), target.reshape(3, 20), attribute=group.reshape(3, 20))
    ids = torch.arange(60) // 20
    torch.testing.assert_close(value(scores, target, attribute=group, groups=ids), rows)
    padded = torch.cat([scores, torch.full((5,), torch.nan)])
    more = {
        "mask": torch.arange(65) < 60,
        "attribute": torch.cat([group, torch.full((5,), -100)]),
    }
    labels = torch.cat([target, torch.zeros(5, dtype=torch.bool)])
    whole = value(scores, target, attribute=group)
    torch.testing.assert_close(value(padded, labels, **more), whole)
    with no_checks():
        assert torch.equal(value(scores, target, attribute=group), whole)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": torch.nn.Linear(1, 1)}, "objective must be an Objective, got Linear"),
        ({"objective": PairwiseAUC(reduction="sum")}, "must have reduction='mean', got 'sum'"),
        ({"num_groups": 1}, "num_groups must be a whole number >= 2, got 1"),
        ({"max_difference": 1.0}, r"max_difference must be in \[0, 1\), got 1.0"),
        ({"metric": "ndcg"}, "metric must be one of 'auc', 'xauc', 'ap', got 'ndcg'"),
        ({"multiplier_rate": 0}, "multiplier_rate must be a finite number > 0"),
        ({"penalty": -1}, "penalty must be a finite number >= 0"),
        ({"ema_rate": 0}, r"ema_rate must be in \(0, 1\], got 0"),
        ({"max_difference": "a"}, "max_difference must be a finite number, got 'a'"),
        ({"ema_rate": None}, "ema_rate must be a finite number, got None"),
        ({"penalty": "1"}, "penalty must be a finite number >= 0, got '1'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        FairnessConstraint(**{"objective": PairwiseAUC(), "num_groups": 2, **options})


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (torch.tensor([0, 1]), r"attribute \(2,\) and scores \(4,\)"),
        (
            torch.tensor([0, 1, 2, 0]),
            "attribute must lie between 0 and 1, got values from 0 to 2; num_groups is 2",
        ),
        (torch.tensor([0.0, 1.0, 0.0, 1.0]), "attribute must hold integers"),
        ([0, 1, 0, 1], "attribute must be a torch.Tensor"),
    ],
)
def test_bad_groups_are_named(attribute, message):
    scores, target, _ = two_groups()
    with pytest.raises(ValueError, match=message):
        FairnessConstraint(PairwiseAUC(), 2)(scores, target, attribute=attribute)


def test_the_repr_makes_it_again():
    loss = FairnessConstraint(PairwiseAUC(), 3, 0.1, metric="ap")
    expected = (
        "FairnessConstraint(objective=PairwiseAUC(), num_groups=3, max_difference=0.1, metric='ap')"
    )
    assert repr(loss) == expected
