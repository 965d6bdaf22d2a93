"""pAp@k by its name: as an objective, in a booster and in a network, with users as groups."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.estimators.papk.generated import users

import rankwise
from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker
from rankwise.objectives import PApAtK


def test_the_name_is_the_objective():
    for name, form in (
        ("pap@8", "avg"),
        ("pap@8(form=ts)", "ts"),
        ("pap@8(form=ts_eq14)", "ts_eq14"),
    ):
        found = rankwise.objective(name)
        assert isinstance(found, PApAtK)
        assert (found.k, found.form) == (8, form)
    target, scores = torch.tensor([1, 0, 0]), torch.tensor([2.0, 3.0, 1.0])
    assert float(rankwise.metric("pap@2").value(scores, target)) == 0.5


@pytest.mark.parametrize(
    "ranker",
    [
        BoostedRanker("pap@4", n_estimators=20, n_jobs=1, random_state=0),
        NeuralRanker("pap@4", hidden=(8,), epochs=25, learning_rate=0.03, random_state=0),
        LinearRanker("pap@4", random_state=0),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_it_trains_every_kind_of_ranker_on_users(ranker):
    torch.set_num_threads(1)
    X, y, groups = users(60)
    new_X, new_y, new_groups = users(40, seed=1)
    ranker.fit(X, y, groups=groups)
    found = ranker.score(new_X, new_y, groups=new_groups)
    chance = np.random.default_rng(0).random(len(new_y))
    assert found > 0.55
    assert found > float(rankwise.metrics.pap_at_k(chance, new_y, k=4, groups=new_groups)) + 0.2
