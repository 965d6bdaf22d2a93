from __future__ import annotations

import torch

from rankwise.tasks.recommendation import Evaluation, Settings, course, results_table
from rankwise.tasks.recommendation.network import new_recommender
from rankwise.tasks.recommendation.training import Trained

NETWORK = new_recommender(2, 2, Settings(dimension=1))


def trained(values, warm):
    rows = [
        {"epoch": n + 1, "warm_start": float(n < warm), "loss": 1.0, "ndcg@10": value}
        for n, value in enumerate(values)
    ]
    return Trained(NETWORK, rows, 1 + values.index(max(values)))


def test_a_row_for_each_metric():
    one = Evaluation({"mrr": torch.tensor([1.0, 0.5]).double()}, 0, 0, 1)
    two = Evaluation({"mrr": torch.tensor([1.0, torch.nan]).double()}, 1, 0, 1)
    table = results_table({"popularity": one, "model": two})
    assert table.header == ("metric", "popularity", "model")
    assert list(map(str, table.rows[0])) == ["mrr", "0.7500 ± 0.4900", "1.0000"]
    assert "Means over 2 users" in table.caption


def test_it_says_where_the_objective_was_no_help():
    chosen = Settings(objective="ap")
    helped = course(chosen, trained([0.1, 0.2, 0.3], warm=2))
    assert "0.3000, was that of epoch 3" in helped
    assert "The first 2 were a warm start by softmax." in helped
    assert "did not" not in helped
    assert course(chosen, trained([0.1, 0.3, 0.2], warm=2)).endswith(
        "ap did not make it better on validation."
    )
    assert "warm" not in course(chosen, trained([0.1, 0.3], warm=0))
