"""What the page says of values that are made up."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace

import pytest
from tests.reproductions.estimator_bias.made_up import PLAN, TRUTH, biases, measured, usual

from rankwise.report import Figure
from rankwise.theory import ESTIMATORS, Mean
from reproductions.estimator_bias.measure import PRIOR, RATES
from reproductions.frame import Setting

module = importlib.import_module("reproductions.estimator_bias.study")


@pytest.fixture
def told(monkeypatch):
    """The outcome for values that are made up, and its sections by their headings."""

    def tell(values, setting=None):
        monkeypatch.setattr(
            module, "study", replace(module.study, measure=lambda plan, setting: values)
        )
        monkeypatch.setattr(module.Plan, "of", classmethod(lambda cls, setting: PLAN))
        for name in ("estimates", "interpolation"):  # which take a second
            monkeypatch.setattr(module, name, lambda values: Figure(b"", "drawn elsewhere"))
        outcome = module.study(setting or Setting())
        return outcome, {section.heading: section for section in outcome.sections}

    return tell


def share(of_ap):
    """Biases of SOPRC that are this share of those of batch AP."""

    def of(name, rate):
        return usual("batch AP", rate) * (of_ap if name == "SOPRC" else 1)

    return of


def wrong_sign(name, rate):
    return -usual(name, rate)


def test_cases_for_and_against_are_counted(told):
    outcome, sections = told(
        measured(
            {
                "good": biases(),  # two sizes each
                "near": biases(share(0.21)),
                "bad": biases(share(0.5), sizes=(500,)),
                "turned": biases(wrong_sign, sizes=(500,)),
            }
        )
    )
    (said,) = sections["Results"].paragraphs
    assert "It holds in 2 of 6 cases; 2 are open" in said
    assert "2 speak against it" in said
    assert [row[-1] for row in outcome.table.rows] == ["yes", "yes", "open", "open", "no", "no"]
    holds = [v["holds"] for v in outcome.summary["verdicts"]]
    assert holds == [row[-1] for row in outcome.table.rows]


def test_levels_and_interpolation_are_said_as_they_are(told):
    outcome, sections = told(measured())
    (said,) = sections["Results"].paragraphs
    assert "on average 0.100 for batch AP, 0.050 for prior only, 0.010 for SOPRC" in said
    assert "of a draw is 0.050 for batch AP, 0.050 for prior only, 0.050 for SOPRC." in said
    assert outcome.summary["levels"]["largest"]["SOPRC"] == pytest.approx(0.01)
    last = sections["How well φ restores the quantiles"].paragraphs[-1]
    assert "chords are within it in all 4 cases, and φ within twice the bound in all 4" in last
    assert "slopes -1.00 to -1.00 in n⁺" in last
    assert "at most 0.22 of the error of one batch" in last  # (1/20)/√(1/20)
    broken = measured()
    broken.by_count["binormal"][0] = replace(broken.by_count["binormal"][0], chords=1.0, phi=1.0)
    last = told(broken)[1]["How well φ restores the quantiles"].paragraphs[-1]
    assert "chords are within it in 3 of 4 cases, and φ within twice the bound in 3 of 4" in last


def test_a_row_of_the_claims_by_hand(told):
    def of(name, rate):  # the worst of SOPRC is at the lowest rate
        return 0.0144 if (name, rate) == ("SOPRC", 0.01) else usual(name, rate)

    outcome, _ = told(measured({"law": biases(of, sizes=(500,))}))
    assert outcome.table.rows == [
        ("law", 500, "0.400", "+0.090", "-0.100", "0.050", "0.014", "0.160", "0.011", "yes")
    ]
    assert "AP bias, 0.01" in outcome.table.header
    assert "AP bias, 0.2" in outcome.table.header


def test_all_numbers_are_in_the_table_and_in_the_rows(told):
    values = measured()
    outcome, sections = told(values)
    (table,) = sections["All numbers"].tables
    laws = len(values.biases)
    assert len(table.rows) == laws * len(PLAN.sizes) * len(RATES) * len(ESTIMATORS)
    half = Mean(0, 0.001, 3).half_width()
    first = table.rows[0]
    assert first[:4] == ("binormal", 500, "0.01", "batch AP")
    assert first[4:] == ("0.4900", f"+0.0900 ± {half:.4f}", "0.0500")
    parts = [row["part"] for row in outcome.rows]
    assert parts.count("bias") == len(table.rows)
    assert parts.count("interpolation") == laws * (len(PLAN.counts) + len(PLAN.points))
    for row in outcome.rows:
        if row["part"] == "bias":
            assert row["mean"] - row["truth"] == pytest.approx(row["bias"])
            assert row["half_width_95"] == pytest.approx(half)


def test_errors_of_the_interpolation_are_those_by_count(told):
    _, sections = told(measured())
    (table,) = sections["How well φ restores the quantiles"].tables
    assert table.rows[0] == (
        "binormal", 20, 100, "0.0025", "0.0013", "0.005", "0.05", "0.22",
    )  # fmt: skip
    flat = [row for row in table.rows if "uniform" in row[0]]
    assert {row[3:6] for row in flat} == {("0", "0", "0")}


def test_what_was_done_has_the_numbers_of_the_plan(told):
    _, sections = told(measured(), Setting(seed=8))
    first, _, last = sections["Method"].paragraphs
    assert f"Three populations of 20,000 scores, π = {PRIOR}" in first
    assert "batches of 500 and 1,000 scores" in first
    assert "a share π₀ of 0.01, 0.02, 0.03, 0.1 and 0.2 positives" in first
    assert "6 draws for each, seed 8. The scores" in first
    assert "in 3 independent chains" in last
    assert "2 batches before the first one counts" in last
    _, quick = told(measured(), Setting(quick=True))
    assert "seed 0, a quick run. " in quick["Method"].paragraphs[0]


def test_more_chains_than_draws_are_as_many_as_draws():
    few = module.Plan(draws=7, chains=25)
    assert "in 7 independent chains" in module._method(few, Setting())[-1]


@pytest.mark.parametrize(
    ("values", "words"),
    [((500,), "500"), ((500, 2000), "500 and 2,000"), ((1, 0.5, 0.25), "1, 0.5 and 0.25")],
)
def test_numbers_in_a_sentence(values, words):
    assert module._and(values) == words


def test_the_summary_is_plain(told):
    outcome, _ = told(measured({"law": biases(sizes=(500,))}))
    read = json.loads(json.dumps(outcome.summary, allow_nan=False))
    (only,) = read["verdicts"]
    assert (only["law"], only["truth"], only["signs"]) == ("law", TRUTH, True)
    assert read["rates"] == list(RATES)
