"""Lemma 1 of StableAP: its bounded difference falls with n, that of plain AP does not."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.objectives import AveragePrecision, StableAP
from rankwise.pairs import OneSidedHuber
from rankwise.theory import Mean, bounded_difference, loglog_fit, loglog_slope

SIZES = (256, 4096, 65_536)


def plain() -> AveragePrecision:
    return AveragePrecision(
        None, false_positives=OneSidedHuber(0.25), gain="fixed", score_scale=1.0
    )


def stable() -> StableAP:
    return StableAP(
        0.5, tau=0.25, epsilon=1.0, width=2.0, dynamic=False, gain="fixed", score_scale=1.0
    )


def mean_of_scores(scores, target):
    return scores.mean()


def test_plain_ap_is_moved_by_one_example_however_long_the_list():
    found = bounded_difference(plain, SIZES, draws=2)
    assert loglog_slope(SIZES, [d.worst for d in found]) == pytest.approx(0, abs=0.05)
    assert all(d.worst > 0.5 for d in found)
    assert {d.where for d in found} <= {
        "separated, positives equal",
        "one negative above, positives equal",
    }


def test_stable_ap_falls_as_one_over_n_once_its_constant_is_used_up():
    found = bounded_difference(stable, SIZES, draws=2)
    worst = [d.worst for d in found]
    assert worst == sorted(worst, reverse=True)
    assert loglog_slope(SIZES[1:], worst[1:]) < -0.75
    assert loglog_slope(SIZES, [d.typical.value for d in found]) == pytest.approx(-1, abs=0.4)


def test_a_mean_moves_by_exactly_the_range_over_n():
    found = bounded_difference(lambda: mean_of_scores, (10, 1000), low=-2.0, high=3.0)
    assert [d.worst for d in found] == pytest.approx([5 / 10, 5 / 1000], rel=0.3)
    assert all(d.worst <= 5 / d.n + 1e-12 for d in found)
    assert loglog_slope((10, 1000), [d.worst for d in found]) == pytest.approx(-1, abs=0.1)


def test_same_seed_same_numbers():
    a, b = (bounded_difference(plain, (64,), seed=3) for _ in range(2))
    assert a == b


def test_slope_by_hand():
    assert loglog_slope((1, 10, 100), (5.0, 0.5, 0.05)) == pytest.approx(-1)
    assert loglog_slope((1, 10), (2.0, 2.0)) == pytest.approx(0)
    assert math.isnan(loglog_slope((1, 10), (1.0, 0.0)))


def test_a_fit_has_the_error_of_its_residuals_or_of_its_means():
    numbers = loglog_fit((1, 10, 100), (1.0, 0.2, 0.01))
    # The middle is log 2 above the line: residuals −1/3, 2/3, −1/3 of it, √(6/9/(1 · 2)) / log 10.
    expected = math.log(2) * math.sqrt(6 / 9 / 2) / math.log(10)
    assert (numbers.value, numbers.standard_error) == pytest.approx((-1, expected))
    assert numbers.n - 1 == 1
    assert math.isnan(loglog_fit((1, 10), (1.0, 0.1)).standard_error)
    means = loglog_fit((1, math.e**2), (Mean(2.0, 0.2, 6), Mean(1.0, 0.1, 5)))
    # Two points at distance 2: √(0.1² + 0.1²)/2.
    assert means.standard_error == pytest.approx(math.sqrt(0.02) / 2)
    assert means.n == 5
    assert math.isnan(loglog_fit((1, 10), (Mean(1.0, 0.1, 3), Mean(0.0, 0.0, 3))).value)


@pytest.mark.parametrize(
    ("given", "message"),
    [({"low": 1.0, "high": 1.0}, "^low must"), ({"rate": 0.0}, "^rate must")],
)
def test_errors_name_the_argument(given, message):
    with pytest.raises(ValueError, match=message):
        bounded_difference(lambda: mean_of_scores, (10,), **given)
    with pytest.raises(ValueError, match=r"^differences must be as many"):
        loglog_slope((1, 2), (1.0,))


def test_the_loss_sees_no_graph_and_the_targets_stay():
    seen = []

    def loss(scores, target):
        seen.append(int(target.sum()))
        assert not torch.is_grad_enabled()
        return scores.sum()

    bounded_difference(lambda: loss, (20,), rate=0.25, draws=1)
    assert set(seen) == {5}
