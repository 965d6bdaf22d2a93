"""What the page claims of the five rankings, and what it says of others."""

from __future__ import annotations

import importlib
from fractions import Fraction

import pytest

from reproductions.frame import Setting
from reproductions.papk_table1.study import METRICS, PUBLISHED, RANKINGS, Plan, Value, measure

module = importlib.import_module("reproductions.papk_table1.study")


@pytest.fixture(scope="module")
def outcome():
    return module.study(Setting(seed=2))


def values(plan=None):
    return {(v.metric, v.ranking): v.ours for v in measure(plan or Plan(), Setting())}


def test_the_claim_is_what_the_numbers_say():
    found = values()

    def preferred(metric, *rankings):
        return max(rankings, key=lambda name: found[metric, name])

    three = ("f₁", "f₂", "f₃")
    assert preferred("AUC", *three) == "f₁"
    assert preferred("pAUC(0, 2/6]", *three) == "f₂"
    assert preferred("pAp@2", *three) == "f₃"
    assert found["prec@6", "f₄"] == found["prec@6", "f₅"]
    assert preferred("pAp@6", "f₄", "f₅") == "f₅"
    assert {(labels.count("1"), labels.count("0")) for labels in RANKINGS.values()} == {(5, 6)}


def test_every_number_is_a_fraction_beside_the_printed_one(outcome):
    header = outcome.table.header[1:]
    beside = 0
    for row in outcome.table.rows:
        for ranking, shown in zip(header, row[1:], strict=True):
            paper = PUBLISHED[row[0]].get(ranking)
            ours, bar, theirs = shown.partition(" | ")
            assert float(Fraction(ours)) == pytest.approx(values()[row[0], ranking], abs=1e-12)
            assert bool(bar) == (paper is not None)
            if paper is not None:
                assert Fraction(theirs) == Fraction(ours) == paper
                beside += 1
    assert beside == 13
    assert "all 13 published numbers are exactly ours" in outcome.sections[-1].paragraphs[0]
    assert outcome.summary["agrees"] is True


def test_what_each_metric_prefers_is_read_from_the_values(monkeypatch):
    said = " ".join(module._preferred(measure(Plan(), Setting())))
    assert "of f₁, f₂ and f₃: AUC has f₁ first, pAUC(0, 2/6] has f₂ first, pAp@2 has f₃" in said
    assert "of f₄ and f₅: prec@6 has f₄ and f₅ first, pAp@6 has f₅ first." in said
    swapped = {**RANKINGS, "f₁": RANKINGS["f₃"], "f₃": RANKINGS["f₁"]}
    said = " ".join(module._preferred(measure(Plan(swapped), Setting())))
    assert "AUC has f₃ first, pAUC(0, 2/6] has f₂ first, pAp@2 has f₁" in said


def test_a_number_that_is_not_the_printed_one_is_told(monkeypatch):
    rankings = {**RANKINGS, "f₅": "11110100000"}
    monkeypatch.setattr(module.Plan, "of", classmethod(lambda cls, setting: Plan(rankings)))
    found = module.study(Setting())
    assert found.summary["agrees"] is False
    said = found.sections[-1].paragraphs[0]
    assert "exactly ours" not in said
    assert "see the table" in said
    rows = {row[0]: row for row in found.table.rows}
    assert rows["prec@6"][5] == "5/6 | 5/6"
    assert rows["pAp@6"][5] == "29/30 | 14/15"


@pytest.mark.parametrize(
    ("ours", "paper", "shown"),
    [(0.5, None, "1/2"), (1.0, Fraction(1), "1 | 1"), (1 / 3, Fraction(1, 2), "1/3 | 1/2")],
)
def test_a_value_as_a_fraction(ours, paper, shown):
    assert module._shown(Value("f", "m", ours, paper)) == shown


def test_rows_and_summary_have_every_metric_of_every_ranking(outcome):
    assert len(outcome.rows) == len(METRICS) * len(RANKINGS)
    found = values()
    for row in outcome.rows:
        assert row["ours"] == found[row["metric"], row["ranking"]]
        paper = PUBLISHED[row["metric"]].get(row["ranking"])
        assert row["paper"] == ("" if paper is None else str(paper))
        assert outcome.summary["values"][f"{row['metric']} of {row['ranking']}"] == row["ours"]


def test_relevant_items_are_filled_at_their_ranks(monkeypatch):
    drawn = []
    monkeypatch.setattr(module, "png", lambda figure: drawn.append(figure) or b"")
    module._figure(Plan({"a": "101", "b": "010"}))
    (place,) = drawn[0].axes
    filled = {
        (int(line.get_xdata()[0]), int(-line.get_ydata()[0]))
        for line in place.lines
        if line.get_color() != "white"
    }
    assert filled == {(1, 0), (3, 0), (2, 1)}
    assert len(place.lines) == 6
    assert [text.get_text() for text in place.texts] == ["a", "b"]


def test_all_published_numbers_are_ours():
    values = measure(Plan(), Setting())
    assert sum(value.paper is not None for value in values) == 13
    assert all(value.agrees for value in values)


def test_another_ranking_is_told():
    values = measure(Plan({"f₁": "11111000000"}), Setting())
    assert not all(value.agrees for value in values)
