"""The checker pointed at losses whose constants are known, and at functions of a user."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.objectives import SOPRC, AveragePrecision, PairwiseAUC, StableAP
from rankwise.pairs import OneSidedHuber, OneSidedSigmoid
from rankwise.theory import TwinTraining, check

FAST = {
    "sizes": (40, 160, 640),
    "draws": 10,
    "repeats": 3,
    "steps": 10,
    "n_positives": (10, 80),
    "training": TwinTraining(width=3, negatives_per_positive=1, twins=3, batch_negatives=8),
}


def verdict(found, claim):
    (one,) = [v for v in found.verdicts if claim in v.claim]
    return one


def mean_gap(scores, target):
    return 1 + scores[~target].mean() - scores[target].mean()


def highest_negative(scores, target):
    return 1 + scores[~target].max() - scores[target].mean()


def test_pairwise_auc_has_its_known_constant():
    """ℓ ≤ 1, so that one of n/2 negatives changes the mean over the pairs by at most 2/n."""
    found = check(PairwiseAUC(OneSidedSigmoid(0.02)), **FAST)
    assert [d.worst for d in found.differences] == pytest.approx([2 / n for n in FAST["sizes"]])
    said = verdict(found, "bounded differences")
    assert said.holds
    assert said.found == ("slope -1.00 between n = 160 and 640, -1.00 ± 0.00 from 40 on, c = 2/n")


@pytest.mark.parametrize(
    "loss",
    [
        highest_negative,
        AveragePrecision(None, false_positives=OneSidedHuber(0.25), gain="fixed", score_scale=1.0),
    ],
)
def test_a_loss_that_one_example_moves_is_not_stable(loss):
    said = verdict(check(loss, **FAST), "bounded differences")
    assert said.holds is False
    assert said.word == "no"
    assert "slope -0.0" in said.found or "slope +0.0" in said.found


def test_a_slope_in_between_is_open():
    def root(scores, target):  # of the share of negatives above all positives: falls as n^(−1/2)
        share = (scores[~target] > scores[target].max()).double().mean()
        return (1e-9 + share).sqrt() + 0 * scores.sum()

    said = verdict(check(root, **FAST), "bounded differences")
    assert said.word == "open"
    assert said.found.startswith("slope -0.50 between")


def test_a_function_of_the_user_by_hand():
    found = check(mean_gap, **(FAST | {"steps": 30, "repeats": 6}))
    assert found.objective == "mean_gap"
    # One of n/2 examples moves by at most 2.
    assert all(d.worst <= 4 / d.n + 1e-9 for d in found.differences)
    assert verdict(found, "bounded differences").holds
    assert verdict(found, "Lipschitz").holds  # a linear function
    assert found.constants.smoothness < 1e-6
    assert verdict(found, "ε falls").holds
    assert not [v for v in found.verdicts if "Lemma" in v.claim or "Rademacher" in v.claim]
    assert found.complexities == []


def test_bounds_follow_from_the_constants():
    found = check(mean_gap, **FAST)
    deviation, gap = found.bounds.values()
    last, twins = found.differences[-1], found.stabilities[-1]
    assert deviation == pytest.approx(last.worst * math.sqrt(640 * math.log(20) / 2))
    epsilons = 8 * twins.positive.value + 8 * twins.negative.value
    assert gap == pytest.approx(found.constants.gradient * epsilons)


def test_the_inequalities_of_stable_ap():
    own = StableAP(0.5, tau=0.25, epsilon=0.3, a=0.2, t=1.0, gain="fixed", score_scale=1.0)
    found = check(own, **FAST)
    for name in ("Lemma 3", "Lemma 8", "Theorem 1"):
        assert verdict(found, name).holds
        assert verdict(found, name).found == "in 10 of 10 draws"
    assert len(found.complexities) == 2
    assert found.complexities[1].value < found.complexities[0].value
    assert verdict(found, "Rademacher").holds
    assert "slope -0." in verdict(found, "Rademacher").found
    given = check(mean_gap, surrogate="sigmoid", **FAST)
    assert not verdict(given, "Theorem 1").holds
    assert "is not at least ℓ₀₁" in verdict(given, "Theorem 1").found


def test_the_factor_makes_the_loss_a_bound_of_the_metric():
    small = check(lambda s, t: mean_gap(s, t) / 10, **FAST)
    large = check(mean_gap, **FAST)
    assert small.factor == pytest.approx(10 * large.factor)
    assert verdict(small, "bounds 1 − AP").holds == (small.factor <= 1)
    nothing = check(lambda s, t: 0 * s.sum(), **FAST)
    assert math.isinf(nothing.factor)
    assert "no multiple" in verdict(nothing, "bounds 1 − AP").found
    assert verdict(nothing, "bounded differences").found == "no change at n = 640"
    assert verdict(nothing, "ε falls").found == "ε⁺ is 0, ε⁻ is 0"


def test_a_memory_of_the_user_is_left_alone():
    loss = SOPRC(0.5, gain="fixed", score_scale=1.0)
    before = {name: value.clone() for name, value in loss.state_dict().items()}
    first = check(loss, **FAST)
    assert loss.training
    for name, value in loss.state_dict().items():
        assert torch.equal(value, before[name])
    assert check(loss, **FAST) == first


def test_a_name_is_taken_and_the_table_has_every_part():
    text = str(check("auc", **FAST))
    assert text.startswith("auc\n")
    parts = "B: largest |loss|", "G: ", "L: ", "c: largest change by one of 640", "ε⁺: ", "ε⁻: "
    for part in (*parts, "a: ", "G(n⁺ε⁺ + n⁻ε⁻)", "bounded differences are O(1/n)", "Rademacher"):
        assert part in text
    assert "vacuous" in str(check(highest_negative, **FAST))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sizes": (40,)}, "^sizes must be two or more ascending"),
        ({"n_positives": (80, 10)}, "^n_positives must be two or more ascending"),
        ({"repeats": 1}, "^repeats must be 2 or more"),
        ({"draws": 0}, "^draws must"),
    ],
)
def test_errors_name_the_argument(given, message):
    with pytest.raises(ValueError, match=message):
        check(mean_gap, **(FAST | given))
