import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from rankwise import metrics as m


@pytest.mark.parametrize(
    ("ranks", "expected", "rounded"),
    [
        ((1, 2, 8, 11), (1 / 1 + 2 / 2 + 3 / 8 + 4 / 11) / 4, 0.685),
        ((1, 3, 8, 9), (1 / 1 + 2 / 3 + 3 / 8 + 4 / 9) / 4, 0.622),
        ((1, 4, 7, 8), (1 / 1 + 2 / 4 + 3 / 7 + 4 / 8) / 4, 0.607),
    ],
)
def test_figure_1_of_stable_ap(ranked, ranks, expected, rounded):
    value = m.average_precision(*ranked(*(int(r in ranks) for r in range(1, 12))))
    assert value == pytest.approx(expected, abs=1e-15)
    assert round(float(value), 3) == rounded


def test_two_positives_under_two_of_a_hundred_negatives(ranked):
    value = m.average_precision(*ranked(0, 0, 1, 1, *[0] * 98))
    assert value == pytest.approx((1 / 3 + 2 / 4) / 2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_scikit_learn(seed, weighted):
    rng = np.random.default_rng(seed)
    scores, target = rng.standard_normal(200).round(1), rng.integers(0, 2, 200)
    weight = rng.random(200) if weighted else None
    expected = average_precision_score(target, scores, sample_weight=weight)
    for ties in ("standard", "against"):
        value = m.average_precision(scores, target, weight=weight, ties=ties)
        assert value == pytest.approx(expected, abs=1e-12)


def test_micro_is_scikit_learns():
    rng = np.random.default_rng(0)
    scores, target = rng.standard_normal((50, 4)), rng.integers(0, 2, (50, 4))
    for average in ("micro", "macro"):
        expected = average_precision_score(target, scores, average=average)
        value = m.average_precision(scores.T, target.T, average=average)
        assert value == pytest.approx(expected, abs=1e-12)


def test_auprc_with_the_lists_own_prior_is_average_precision():
    rng = np.random.default_rng(0)
    scores, target = rng.standard_normal(100).round(1), (rng.random(100) < 0.3).astype(int)
    own = m.auprc(scores, target, prior=target.mean())
    assert own == pytest.approx(m.average_precision(scores, target), abs=1e-12)


def test_auprc_by_hand(ranked):
    # positive 1: TPR 1/2, FPR 0 → precision 1; positive 2: TPR 1, FPR 1/2, gain .9/.1 → 1/(1+4.5)
    value = m.auprc(*ranked(1, 0, 1, 0), prior=0.1)
    assert value == pytest.approx((1 + 1 / (1 + 9 * 0.5)) / 2)


def test_auprc_does_not_move_with_the_sampled_share_of_negatives():
    rng = np.random.default_rng(0)
    target = (rng.random(400) < 0.5).astype(int)
    scores = rng.standard_normal(400) + target
    more = np.where(target == 1, 1, 5)
    once = m.auprc(scores, target, prior=0.05)
    assert m.auprc(scores, target, prior=0.05, weight=more) == pytest.approx(once, abs=1e-12)


@pytest.mark.parametrize("prior", [0, 1, -0.1, float("nan")])
def test_prior_is_a_share(ranked, prior):
    with pytest.raises(ValueError, match="prior must be a share"):
        m.auprc(*ranked(1, 0), prior=prior)
