"""StableAP: Theorem 1, its mean μ̂, and what one example can do to it."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.memory import PreviousModel
from rankwise.objectives import StableAP
from rankwise.pairs import OneSidedHuber, ZeroOne


def test_theorem_1():
    """risk₀₁ ≤ mean h̃(ρℓ_i/r_i) ≤ (q/2)·h(ρ·mean w(r_i)ℓ_i), with h = √h̃ (exponent +1/2)."""
    generator = torch.Generator().manual_seed(0)
    tau = 0.5
    huber, largest = OneSidedHuber(tau), 1 + 4 / tau
    for trial in range(400):
        n_positive, n_negative = 1 + trial % 7, 1 + trial % 11
        positives, negatives = (
            2 * torch.rand(n, dtype=torch.float64, generator=generator) - 1
            for n in (n_positive, n_negative)
        )
        rho = n_negative / n_positive
        below = (
            ZeroOne().value(positives[:, None] - positives).mean(1)
        )  # r: the share above or tied
        errors = huber.value(positives[:, None] - negatives).mean(1)
        wrong = ZeroOne().value(positives[:, None] - negatives).mean(1)
        x = rho * wrong / below
        risk = (x / (1 + x)).mean()
        x = rho * errors / below
        middle = (x / (1 + x)).mean()
        bound = rho * largest
        low = 0.5 * (below - below**2).clamp_min(1e-12) ** -0.5
        weights = torch.where(below <= 0.5, low, (1 + bound) / (below + bound))
        x = rho * (weights * errors).mean()
        q = math.pi / 2 + 2 * (1 + bound) / (1 + 2 * bound)
        upper = q / 2 * (x / (1 + x)).sqrt()
        assert risk <= middle + 1e-12
        assert middle <= upper + 1e-12


def test_the_mean_follows_a_moving_model_with_previous_scores():
    """Eq. 6: a drifting model leaves a plain moving average behind, not the corrected one."""
    torch.manual_seed(1)
    x, target = torch.randn(400, 3, dtype=torch.float64), torch.arange(400) < 100
    lag = {}
    for corrected in (True, False):
        torch.manual_seed(2)
        model = torch.nn.Linear(3, 1, bias=True, dtype=torch.float64)
        previous, loss = PreviousModel(model), StableAP(0.1, ema_rate=0.01, score_scale=1.0)
        for _ in range(100):
            rows = torch.cat([torch.randint(0, 100, (10,)), torch.randint(100, 400, (40,))])
            earlier = previous(x[rows]).squeeze(1)
            beside = {"previous_scores": earlier} if corrected else {}
            loss(model(x[rows]).squeeze(1), target[rows], **beside)
            with torch.no_grad():
                model.bias += 0.05  # the drift
        truth = float(model(x[target]).detach().mean()) - 0.05
        lag[corrected] = abs(float(loss.mean.value) - truth)
    assert lag[True] < 0.15
    assert lag[False] > 1.0


def drifting(shift, growth, previous, steps=40, **options):
    """μ̂ after some steps, and the mean of own units that it should follow."""
    generator = torch.Generator().manual_seed(0)
    loss, target, means = StableAP(0.3, **options), torch.arange(200) < 60, []
    for k in range(steps):
        batch = torch.randn(200, dtype=torch.float64, generator=generator) + 1.5 * target
        now, before = ((batch + shift * t) * growth**t for t in (k, k - 1))
        beside = {"previous_scores": before} if previous else {}
        loss(now.requires_grad_(), target, **beside)
        middle = (batch[target].mean() + batch[~target].mean()) / 2
        means.append(torch.sigmoid((batch[target] - middle) / batch.std(unbiased=False)).mean())
    return float(loss.mean.value), torch.stack(means)


@pytest.mark.parametrize("squash", [True, False])
@pytest.mark.parametrize("previous", [True, False])
@given(shift=st.floats(-0.5, 0.5), growth=st.floats(0.9, 1.1))
@settings(max_examples=8)
def test_the_mean_does_not_follow_a_drift_of_all_scores(squash, previous, shift, growth):
    """A shift and a growth of every score leave all rankings, and so what μ̂ stands for."""
    still, _ = drifting(0.0, 1.0, previous, squash=squash)
    moved, _ = drifting(shift, growth, previous, squash=squash)
    assert moved == pytest.approx(still, abs=1e-5)


@pytest.mark.parametrize(("shift", "growth"), [(0.0, 1.0), (0.02, 1.0), (0.0, 1.02), (-0.1, 0.98)])
@pytest.mark.parametrize("previous", [True, False])
def test_the_mean_is_that_of_the_positives_in_their_own_units(shift, growth, previous):
    tracked, means = drifting(shift, growth, previous, steps=300)
    assert tracked == pytest.approx(float(means.mean()), abs=0.005)


def test_the_means_of_several_lists_are_in_the_units_of_each():
    scores = torch.tensor([[3.0, 1.0, 0.5, 0.0, -2.0], [10.0, 30.0, 20.0, 0.0, 5.0]])
    target = torch.tensor([[1, 1, 0, 0, 0], [1, 0, 0, 0, 0]])
    loss = StableAP(0.3, 2)
    loss(scores.clone().requires_grad_(), target, list_ids=torch.arange(2))
    for mean, row, positive in zip(loss.mean.value, scores, target.bool(), strict=True):
        middle = (row[positive].mean() + row[~positive].mean()) / 2
        units = torch.sigmoid((row[positive] - middle) / row.std(unbiased=False))
        assert mean.item() == pytest.approx(units.mean().item(), abs=1e-6)


def change_by_one_example(loss, n: int, generator) -> float:
    """The largest change of the loss when one example of a list of n is replaced."""
    scores = 2 * torch.rand(n, dtype=torch.float64, generator=generator) - 1
    target = torch.arange(n) < n // 4
    before, worst = float(loss(scores, target)), 0.0
    for i in (0, n // 4 - 1, n // 4, n - 1):
        for value in (-1.0, 1.0):
            other = scores.clone()
            other[i] = value
            worst = max(worst, abs(float(loss(other, target)) - before))
    return worst


def test_one_example_moves_it_by_order_1_over_n():
    options = dict(gain="fixed", dynamic=False, score_scale=1.0, tau=0.5)
    loss = StableAP(0.25, **options)
    changes = [
        sum(change_by_one_example(loss, n, torch.Generator().manual_seed(s)) for s in range(10))
        / 10
        for n in (40, 400, 4000)
    ]
    slope = math.log(changes[2] / changes[0]) / math.log(100)
    assert slope < -0.8


def test_first_call_without_earlier_parameters_is_the_batch_mean():
    scores = torch.tensor([1.0, 3.0, 0.0], requires_grad=True)
    loss = StableAP(0.1, score_scale=1.0)
    loss(scores, torch.tensor([1, 1, 0]))
    assert loss.mean.value.item() == 2


@pytest.mark.parametrize("previous", [False, True])
def test_a_rate_of_0_fixes_the_mean_at_its_first_value(previous):
    """Table 4, lines 1 and 2: v̂ stays, whatever the model does, and the weights use it."""
    loss, target = StableAP(0.5, ema_rate=0, gain="fixed", score_scale=1.0), torch.arange(4) < 2
    first = torch.tensor([0.5, 0.3, 0.0, -0.2], dtype=torch.float64, requires_grad=True)
    later = torch.tensor([0.9, 0.6, 0.1, 0.8], dtype=torch.float64, requires_grad=True)
    loss(first, target)
    beside = {"previous_scores": first.detach()} if previous else {}
    value = loss(later, target, **beside)
    assert loss.mean.value.item() == pytest.approx(0.4)
    huber, largest = OneSidedHuber(0.1), 1 + 4 / 0.1
    r = huber.value(later[:2].detach() - 0.4) / largest  # 0 both: .5 and .2 above the fixed mean
    assert r.tolist() == [0, 0]
    weights = (1.1 / (r + 0.1)) ** 2
    x = (weights * huber.value(later[:2, None] - later[2:]).mean(1)).mean()
    torch.testing.assert_close(value, (0.01 + x / (1 + x)).sqrt())
    followed = StableAP(0.5, dynamic=False, gain="fixed", score_scale=1.0)(later, target)
    assert abs((followed - value).item()) > 0.001  # .6 is below the mean of the batch


def test_squash_takes_the_mean_of_squashed_scores():
    scores = torch.tensor([1.0, 3.0, 0.0], requires_grad=True)
    loss = StableAP(0.1, score_scale=1.0, squash=True)
    loss(scores, torch.tensor([1, 1, 0]))
    assert loss.mean.value.item() == pytest.approx(float(scores[:2].detach().sigmoid().mean()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(a=0.0), "a must be a finite number > 0, got 0.0"),
        (dict(epsilon=-1.0), "epsilon must be"),
        (dict(t=-1.0), "t must be a finite number >= 0, got -1.0"),
        (dict(tau=0.0), "tau must be"),
        (dict(score_scale=0.0), "score_scale must be"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        StableAP(0.1, **options)


def test_previous_scores_that_are_no_numbers():
    earlier = torch.tensor([0.0, torch.nan, 0.0])
    with pytest.raises(ValueError, match="previous_scores contains NaN"):
        StableAP(0.1)(torch.zeros(3), torch.tensor([0, 1, 1]), previous_scores=earlier)


def test_previous_scores_of_another_shape():
    with pytest.raises(ValueError, match=r"previous_scores \(2,\) and scores \(3,\)"):
        StableAP(0.1)(torch.zeros(3), torch.tensor([0, 1, 1]), previous_scores=torch.zeros(2))
