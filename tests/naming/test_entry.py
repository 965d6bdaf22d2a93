from __future__ import annotations

from rankwise.naming.entry import MetricEntry, ObjectiveEntry, all_names, load, shown_names
from rankwise.objectives import SOPRC

ENTRY = ObjectiveEntry(
    ("x", "y"),
    "rankwise.objectives:SOPRC",
    "ap",
    "Never.",
    "–",
    facts=("num_items",),
    when={"form": ("cvar", "kl")},
)


def test_loading_and_names():
    assert load(ENTRY) is SOPRC
    assert all_names(ENTRY) == ("x", "y", "SOPRC")
    assert shown_names(ENTRY) == ("x", "y")
    assert shown_names(MetricEntry(("hit",), "a:b", "", ("k",), "k")) == ("hit@k",)


def test_facts_are_for_the_options_that_want_them():
    assert ENTRY.facts_for({"form": "kl"}) == ("num_items",)
    assert ENTRY.facts_for({"form": "direct"}) == ENTRY.facts_for({}) == ()


def test_the_metric_shown():
    assert ENTRY.shown_metric == "ap"
    assert ObjectiveEntry(("x",), "a:b", "hit", "", "", at="k").shown_metric == "hit@k"
    assert ObjectiveEntry(("x",), "a:b", None, "", "").shown_metric == "as its objective"
