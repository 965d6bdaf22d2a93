from __future__ import annotations

import numpy as np

from rankwise.estimators._holdout import clearly_better
from rankwise.estimators.data import Part
from rankwise.estimators.names import metric_value


def ap(scores, part):
    return metric_value("ap", scores, part)


def rows(n: int, groups=None) -> Part:
    target = (np.arange(n) % 5 == 0).astype(float)
    return Part(np.zeros((n, 1)), target, None, groups)


def test_better_means_on_nearly_all_resamples():
    part, rng = rows(500), np.random.default_rng(0)
    noise = rng.normal(size=500)
    good, bad = noise + 3 * part.target, noise + 0.5 * part.target
    assert clearly_better(good, bad, part, ap, 0)
    assert not clearly_better(bad, good, part, ap, 0)
    assert not clearly_better(good, good, part, ap, 0)


def test_a_lead_by_chance_is_none():
    part = rows(60)
    one, other = (np.random.default_rng(seed).normal(size=60) for seed in (1, 2))
    first, second = sorted((one, other), key=lambda s: -ap(s, part))
    assert ap(first, part) > ap(second, part)
    assert not clearly_better(first, second, part, ap, 0)


def test_lists_are_drawn_whole():
    part = rows(400, np.repeat(np.arange(40), 10))
    noise = np.random.default_rng(0).normal(size=400)
    seen = []

    def metric(scores, some):
        seen.append(some)
        return ap(scores, some)

    assert clearly_better(noise + 3 * part.target, noise, part, metric, 0)
    assert all((np.unique(some.groups, return_counts=True)[1] == 10).all() for some in seen)
    assert len({len(some) for some in seen}) > 5
