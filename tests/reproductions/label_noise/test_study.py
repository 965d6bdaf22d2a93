"""The noise, the claim and the words of the study of label noise."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from rankwise.objectives import PairwiseAUC
from rankwise.pairs import Sigmoid, SquaredHinge
from rankwise.theory import mean_of
from reproductions.frame import Setting
from reproductions.label_noise.measure import (
    PROBLEMS,
    SURROGATES,
    Fit,
    Plan,
    data,
    flipped,
    measure,
)
from reproductions.label_noise.study import OTHERS, apart, mean_table, outcome, pair_table, verdict

PLAN = Plan(positives_flipped=(0.0, 0.3), negatives_flipped=(0.0, 0.2), repeats=2)


def made_up(better: float) -> list[Fit]:
    """The sigmoid is better by this and a little by repeat, where labels are flipped."""
    return [
        Fit(
            problem,
            noise,
            repeat,
            name,
            0.8 + (name == "sigmoid") * noise * (better + 0.002 * repeat),
        )
        for problem in PROBLEMS
        for noise in range(2)
        for repeat in range(2)
        for name in SURROGATES
    ]


def test_labels_are_flipped_by_class():
    y = torch.arange(20_000) < 8_000
    labels = flipped(y, 0.3, 0.1, torch.Generator().manual_seed(0))
    assert float((~labels[y]).double().mean()) == pytest.approx(0.3, abs=0.02)
    assert float(labels[~y].double().mean()) == pytest.approx(0.1, abs=0.02)
    assert torch.equal(flipped(y, 0.0, 0.0, torch.Generator().manual_seed(0)), y)


def test_the_risk_of_flipped_labels_is_affine_for_symmetric_surrogates_alone():
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(3_000) < 1_200
    labels = flipped(y, 0.3, 0.2, generator)
    alpha = float((~y[labels]).double().mean())
    beta = float(y[~labels].double().mean())
    for surrogate, holds in ((Sigmoid(1.0), True), (SquaredHinge(1.0), False)):
        loss = PairwiseAUC(surrogate)
        errors = []
        for shift in (0.5, 2.0, 4.0):
            scores = torch.randn(len(y), generator=generator) + shift * y
            right = (1 - alpha - beta) * loss(scores, y) + (alpha + beta) / 2
            errors.append(abs(float(loss(scores, labels) - right)))
        assert (max(errors) < 0.02) == holds


def test_outliers_are_in_the_training_rows_alone():
    made = [data(Plan(), name, torch.Generator().manual_seed(0)) for name in PROBLEMS]
    (plain, _), (plain_test, _) = made[0]
    (wide, y), (wide_test, _) = made[1]
    far = (wide != plain).any(1)
    assert 0.02 < float(far.double().mean()) < 0.09
    assert torch.equal(wide_test, plain_test)
    assert wide.dtype == torch.float64
    assert len(y) == Plan().items


def test_every_surrogate_sees_the_same_and_learns():
    plan = replace(PLAN, items=60, test_items=200, steps=15)
    fits = measure(plan, Setting())
    assert len(fits) == len(PROBLEMS) * 2 * 2 * len(SURROGATES)
    clean = [f.auc for f in fits if f.noise == 0]
    assert min(clean) > 0.6
    assert fits == measure(plan, Setting())


@pytest.mark.parametrize(
    ("better", "words"), [(0.1, "all 15 comparisons, and lower in 0"), (-0.1, "none of 15")]
)
def test_the_words_follow_from_the_numbers(better, words):
    fits = made_up(better)
    said = verdict(PLAN, fits)
    assert words in said
    assert "Without the test AUC of the sigmoid is higher" in said
    mean = apart(fits, PROBLEMS[0], 1, OTHERS[0])
    assert mean.value == pytest.approx(better + 0.001)
    assert mean.half_width() == pytest.approx(mean_of([better, better + 0.002]).half_width())
    first = outcome(PLAN, fits)[0]
    assert first.startswith("generated, flipped 30% of the positives, 20% of the negatives:")
    assert ("higher against barrier hinge" if better > 0 else "lower against") in first
    means, pairs = mean_table(PLAN, fits), pair_table(PLAN, fits)
    assert means.rows[0][2:] == ("0.800",) * len(SURROGATES)
    assert pairs.rows[1][2] == f"{better + 0.001:+.3f} ± {mean.half_width():.3f}"


def test_shares_come_in_pairs():
    with pytest.raises(ValueError, match="one share for each setting, got 1 and 2"):
        Plan(positives_flipped=(0.1,), negatives_flipped=(0.1, 0.2))
