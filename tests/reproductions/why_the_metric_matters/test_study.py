"""The report: its sentences follow the values, and a wrong print is reported."""

from __future__ import annotations

import importlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from reproductions.frame import Setting
from reproductions.why_the_metric_matters import words
from reproductions.why_the_metric_matters.example import Printed, Ranking
from reproductions.why_the_metric_matters.examples import EXAMPLES, PAPK_TOP_2, PAPK_TOP_6
from reproductions.why_the_metric_matters.measure import Plan, measure
from reproductions.why_the_metric_matters.metrics import LOOKS_AT, measures

module = importlib.import_module("reproductions.why_the_metric_matters.study")


@pytest.fixture(scope="module")
def outcome():
    return module.study(Setting(seed=2))


def run(plan, monkeypatch):
    monkeypatch.setattr(module.Plan, "of", classmethod(lambda cls, setting: plan))
    return module.study(Setting())


def said(report, heading):
    (section,) = [section for section in report.sections if section.heading == heading]
    return " ".join(section.paragraphs)


def swapped(example, one, other):
    """The example with two names exchanged."""
    turned = {one: other, other: one}
    rankings = [replace(r, name=turned.get(r.name, r.name)) for r in example.rankings]
    first = [ranking.name for ranking in example.rankings]
    return replace(
        example, rankings=tuple(sorted(rankings, key=lambda ranking: first.index(ranking.name)))
    )


def test_every_metric_of_every_ranking_is_a_row(outcome):
    expected = sum(
        ranking.given or not measure.given_only
        for example in EXAMPLES
        for ranking in example.rankings
        for measure in measures(example)
    )
    assert len(outcome.rows) == expected
    for row in outcome.rows:
        assert 0 <= row["value"] <= 1
        if row["exact"]:
            assert float(Fraction(row["exact"])) == pytest.approx(row["value"], abs=1e-13)
    (row,) = [
        row
        for row in outcome.rows
        if (row["ranking"], row["metric"]) == ("A", "accuracy (score > 0)")
    ]
    assert (row["exact"], row["printed"]) == ("101/102", "101/102, 0.99")


def test_only_discounts_and_large_denominators_are_no_fractions(outcome):
    families = {row["metric"].partition("@")[0] for row in outcome.rows if not row["exact"]}
    assert families == {"NDCG", "AUPRC (prior 0.01)"}


def test_what_the_report_says(outcome):
    start = said(outcome, "In short")
    assert "15 rankings in 5 examples, each under 16 metrics" in start
    assert "46 of 47 printed numbers are the exact value or its rounding" in start
    assert "prints AUROC 0.78 for E3; exact is 26/33 = 0.7879" in start
    assert "Seed 2" in start
    assert "None of the" in said(outcome, "1. What each metric prefers")
    second = said(outcome, "2. What each metric prefers")
    assert "A or B? A: accuracy, pAUC" in second
    assert "B: AUROC. No preference" in second
    third = said(outcome, "3. What each metric prefers")
    assert "AUROC (f₃ > f₂ > f₁) and AP (f₁ > f₂ > f₃)" in third
    assert "f₁ {1, 2, 8, 11} of 11; f₂ {1, 3, 8, 9} of 11; f₃ {1, 4, 7, 8} of 11." in third
    assert "pAp@10 is left out: there are 7 negatives" in third
    fourth = said(outcome, "4. What each metric prefers")
    assert fourth.startswith("f₁ is preferred by AUROC.")
    assert "all 3 hold: f₁ > f₂ > f₃ by AUROC, f₂ > f₃ > f₁ by pAUC and f₃ > f₂" in fourth
    fifth = said(outcome, "5. What each metric prefers")
    assert "No preference: accuracy, R-precision, MRR, precision@6" in fifth
    assert "equals AUROC on all 15 rankings" in said(outcome, "Which metrics contradict each other")
    assert "in all 4 panels" in said(outcome, "The metrics as areas")


def test_sentences_about_preferences_follow_the_values(monkeypatch):
    plan = Plan((swapped(PAPK_TOP_2, "f₁", "f₃"),), largest=10)
    text = said(run(plan, monkeypatch), "1. What each metric prefers")
    assert "f₃ is preferred by AUROC." in text
    assert "f₁ or f₃? f₁: accuracy, pAUC" in text
    assert "Of the orders that the document states, none of 3 hold." in text
    assert "AUROC: stated is f₁ > f₂ > f₃, computed f₃ > f₂ > f₁." in text


def test_the_choices_in_the_overview_follow_the_values(outcome, monkeypatch):
    rows = {row[0]: row[1:] for row in outcome.table.rows}
    assert set(rows) == set(LOOKS_AT)
    assert rows["AUROC"] == ("E1", "B C", "f₃", "f₁", "f₅")
    assert rows["AP"] == ("E1", "C", "f₁", "f₂", "f₅")
    assert rows["precision@k"] == ("E1", "A C", "=", "f₃", "=")
    assert rows["pAp@k"] == ("E1", "A C", "=", "f₃", "f₅")
    plan = Plan((swapped(PAPK_TOP_6, "f₄", "f₅"),), largest=10)
    turned = {row[0]: row[1:] for row in run(plan, monkeypatch).table.rows}
    assert turned["AUROC"] == ("f₄",)
    assert turned["precision@k"] == ("=",)


def test_a_print_that_differs_is_reported(monkeypatch):
    printed = (Printed("pAp@6", "f₅", "29/30"), Printed("AUROC", "f₄", "0.90"))
    plan = Plan((replace(PAPK_TOP_6, printed=printed),), largest=10)
    report = run(plan, monkeypatch)
    text = said(report, "Printed and exact numbers")
    assert text.startswith("1 of 2 printed numbers are the exact value")
    assert "prints pAp@6 29/30 for f₅; exact is 14/15 = 0.9333 (differs; it is 14/15)" in text
    assert report.summary["printed_right"] == 1
    assert report.summary["printed_otherwise"] == [
        "pAp@k, Table 1, k = 6, pAp@6 of f₅: differs; it is 14/15"
    ]
    assert report.sections[-1].tables[0].rows[0][1:] == ("29/30", "14/15", "differs; it is 14/15")


def test_all_metrics_agree_where_one_list_is_better_throughout(monkeypatch):
    better = Ranking.of("f₅", "", [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    worse = Ranking.of("f₄", "", [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    example = replace(PAPK_TOP_6, rankings=(worse, better), printed=(), claims=())
    report = run(Plan((example,), largest=10), monkeypatch)
    text = said(report, "Which metrics contradict each other")
    assert "None of 120 pairs of metrics contradict each other" in text
    assert "others" not in text
    assert "f₅ is preferred by accuracy, AUROC" in said(report, "1. What each metric prefers")


def test_areas_and_lists_that_do_not_fit_are_reported(monkeypatch):
    found = measure(Plan(largest=10), Setting())
    wrong = [replace(found.areas[0], area=0.5), *found.areas[1:]]
    text = words.area_words(wrong)
    assert (
        text == "The filled area is the metric in 3 of 4 panels: AUC: area 0.5000, metric 0.7333."
    )
    assert found.solutions == {"f₁": [], "f₂": [], "f₃": []}  # no list of ten items fits
    solutions = {"f₁": [(11, (1, 2, 8, 10)), (12, (1, 2))]}
    text = words.solution_words(solutions, (10, 12), EXAMPLES[2].rankings)
    assert text.endswith("f₁ {1, 2, 8, 10} of 11 and {1, 2} of 12 (not the one drawn).")
    assert "differs from AUROC by up to 0.2500" in words.open_words(0.25, 3)


def test_figures_and_drawings_are_all_in_the_report(outcome):
    assert set(outcome.figures) == {"figure", "areas"} | {
        f"{kind}_{number}" for kind in ("lists", "choices") for number in range(1, 6)
    }
    shown = [figure for section in outcome.sections for figure in section.figures]
    assert {id(figure) for figure in shown} == {id(figure) for figure in outcome.figures.values()}


def test_the_documentation_has_the_numbers_of_the_report(outcome):
    page = (Path(__file__).parents[3] / "docs" / "studies.md").read_text()
    section = page.split("## `why-the-metric-matters`")[1].split("\n## ")[0]
    opposed = [count for count in outcome.summary["contradictions"].values() if count]
    pairs = len(outcome.summary["contradictions"])
    assert f"{len(opposed)} of the {pairs} pairs of metrics" in section
    right, printed = outcome.summary["printed_right"], outcome.summary["printed"]
    assert f"{right} of the {printed} printed numbers" in section
    chosen = {row[0]: row[1:] for row in outcome.table.rows}
    columns = ("AUROC", "pAUC", "AP", "precision@k", "pAp@k")
    for number in range(5):
        (line,) = [line for line in section.splitlines() if line.startswith(f"| {number + 1} |")]
        cells = [cell.strip() for cell in line.strip("|").split("|")][2:]
        expected = [chosen[name][number].replace(" ", ", ").replace("=", "–") for name in columns]
        assert cells == expected
