from __future__ import annotations

from rankwise.naming.entry import load, row
from rankwise.objectives import NDCG


def test_a_row_is_an_entry_whose_class_is_found_by_its_path() -> None:
    entry = row("objectives", "NDCG", "ndcg gain", "ndcg", "Lists.", "A paper", at="k", cost="n")
    assert entry.names == ("ndcg", "gain")
    assert entry.path == "rankwise.objectives:NDCG"
    assert (entry.metric, entry.use, entry.paper) == ("ndcg", "Lists.", "A paper")
    assert (entry.at, entry.cost) == ("k", "n")
    assert load(entry) is NDCG


def test_what_is_not_said_is_the_default() -> None:
    entry = row("objectives", "NDCG", "ndcg", None, "Lists.", "A paper")
    assert (entry.cost, entry.memory, entry.at) == ("n log n", "–", None)
    assert entry.facts == entry.needs == ()
    assert entry.shown_metric == "as its objective"
