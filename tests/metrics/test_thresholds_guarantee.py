"""The guarantee of a threshold with a confidence, where the truth is known."""

import math

import numpy as np
import pytest

from rankwise.metrics import choose_threshold
from rankwise.metrics._levels import Levels
from rankwise.metrics._rules import require_limit
from rankwise.metrics.thresholds import choose

RUNS = 400
CHANCE = 0.05
# A rate of exactly 5 % is above this in one of a thousand simulations.
MOST = CHANCE + 3.1 * math.sqrt(CHANCE * (1 - CHANCE) / RUNS)


def above(t, mean):
    """P(N(mean, 1) > t)."""
    return 0.5 * math.erfc((t - mean) / math.sqrt(2))


class Population:
    """Positives N(mean, 1) among negatives N(0, 1); ``wrong`` of the negatives score highest."""

    def __init__(self, prior, mean, wrong=0.0, decimals=None):
        self.prior, self.mean, self.wrong, self.decimals = prior, mean, wrong, decimals

    def draw(self, n, rng):
        target = rng.random(n) < self.prior
        scores = rng.standard_normal(n) + self.mean * target
        wrong = ~target & (rng.random(n) < self.wrong)
        scores = np.where(wrong, self.mean + 3 + rng.standard_normal(n) / 4, scores)
        return (scores if self.decimals is None else scores.round(self.decimals)), target

    def rates(self, t):
        """Precision, recall, false positive rate and share of alerts of scores above t."""
        if self.decimals is not None:  # rounded scores above t are those above the next half step
            half = 0.5 * 10.0**-self.decimals
            t = math.floor(t / (2 * half) + 1e-9) * 2 * half + half
        recall = above(t, self.mean)
        fpr = (1 - self.wrong) * above(t, 0) + self.wrong * above((t - self.mean - 3) * 4, 0)
        alerts = self.prior * recall + (1 - self.prior) * fpr
        return self.prior * recall / alerts if alerts else 1.0, recall, fpr, alerts


POPULATIONS = {
    "separated": Population(0.1, 3.0),
    "few positives": Population(0.03, 2.5),
    "the best scores are wrong": Population(0.2, 2.5, wrong=0.01),
    "tied": Population(0.1, 3.0, decimals=0),
}
RULES = {
    "precision>=0.8@95%": (lambda r: r[0] >= 0.8),
    "recall>=0.9@95%": (lambda r: r[1] >= 0.9),
    "fpr<=0.01@95%": (lambda r: r[2] <= 0.01),
    "alerts<=50/1000@95%": (lambda r: r[3] <= 0.05),
}


def simulate(population, rule, rows=1500):
    rng, limit = np.random.default_rng(0), require_limit(rule)
    for _ in range(RUNS):
        scores, target = population.draw(rows, rng)
        yield choose(rule, limit, Levels.of(scores, target, None))


# The two that no theorem gives for free are tested always, the others with the full tests.
CASES = [
    pytest.param(name, rule, marks=[] if always else [pytest.mark.full], id=f"{name}, {rule}")
    for name in POPULATIONS
    for rule in RULES
    for always in [rule.startswith("precision") or name == "separated"]
]


@pytest.mark.parametrize(("name", "rule"), CASES)
def test_the_limit_is_broken_no_more_often_than_the_confidence_allows(name, rule):
    population = POPULATIONS[name]
    found = list(simulate(population, rule))
    broken = [
        p.flagged > 0 and not RULES[rule](population.rates(p.threshold))
        for p in found
        if p.supported
    ]
    assert sum(broken) / RUNS <= MOST
    if name == "separated":
        assert sum(p.supported for p in found) > 0.95 * RUNS


def test_without_a_confidence_the_limit_is_broken_about_every_other_time():
    population = POPULATIONS["separated"]
    found = list(simulate(population, "precision>=0.8"))
    broken = np.mean([population.rates(p.threshold)[0] < 0.8 for p in found])
    assert 0.4 < broken < 0.9  # what the confidence is for


@pytest.mark.parametrize(
    ("rule", "rate", "share"),
    [
        # At the population's own threshold of each rule; the share of its recall that is kept.
        ("precision>=0.8@95%", 0, 0.75),
        ("fpr<=0.01@95%", 2, 0.9),
        ("alerts<=50/1000@95%", 3, 0.75),
    ],
)
def test_the_price_of_the_guarantee_is_a_small_part_of_the_recall(rule, rate, share):
    population, limit = POPULATIONS["separated"], require_limit(rule)
    wanted = limit.value if limit.rows is None else limit.value / limit.rows
    grid = np.linspace(-3, 6, 4001)
    rates = np.array([population.rates(t) for t in grid])
    within = rates[:, rate] >= wanted if rate == 0 else rates[:, rate] <= wanted
    best = rates[within, 1].max()
    kept = [population.rates(p.threshold)[1] for p in simulate(population, rule)]
    assert np.mean(kept) > share * best


def test_the_price_of_a_recall_is_a_small_part_of_the_false_positive_rate():
    population = POPULATIONS["separated"]
    rates = np.array([population.rates(t) for t in np.linspace(-3, 6, 4001)])
    least = rates[rates[:, 1] >= 0.9, 2].min()
    kept = [population.rates(p.threshold)[2] for p in simulate(population, "recall>=0.9@95%")]
    assert np.mean(kept) < 2.5 * least


def test_more_confidence_is_stricter():
    scores, target = POPULATIONS["separated"].draw(3000, np.random.default_rng(1))
    cuts = [
        choose_threshold(scores, target, f"precision>=0.8@{level}%").threshold
        for level in (60, 95, 99.9)
    ]
    assert cuts == sorted(cuts)
    assert cuts[0] < cuts[-1]
