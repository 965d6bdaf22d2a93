from __future__ import annotations

import numpy as np

from rankwise.tasks.ranking import results_table
from rankwise.tasks.ranking.evaluate import Judged
from rankwise.tasks.ranking.page import notes_of

RESULTS = {
    "train": {"ap": Judged("ap", np.array([0.5, 1.0])), "mrr": Judged("mrr", np.array([1.0, 1.0]))},
    "test": {"ap": Judged("ap", np.array([0.25, np.nan])), "mrr": Judged("mrr", np.ones(2))},
}


def test_metrics_by_part():
    table = results_table(RESULTS)
    assert table.header == ("metric", "train", "test")
    assert table.rows[0] == ("ap", "0.7500 ± 0.4900", "0.2500")
    assert "Means over the queries with a relevant document" in table.caption
    assert "2 of train and 2 of test" in table.caption


def test_what_is_left_out_is_said():
    assert notes_of(RESULTS) == ["test: 1 query without a relevant document is left out of ap."]
    lost = np.array([np.nan, np.nan, 1.0])
    both = {"ap": Judged("ap", lost), "auc": Judged("auc", lost, pairs=True)}
    assert notes_of({"test": both}) == [
        "test: 2 queries without a relevant document are left out of ap.",
        "test: 2 queries without a relevant document or without any other are left out of auc.",
    ]
