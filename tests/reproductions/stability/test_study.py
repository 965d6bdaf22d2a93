"""What the page says of values that are made up."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace

import pytest
from tests.reproductions.stability.made_up import PLAN, measured

from rankwise.report import Figure
from reproductions.frame import Setting
from reproductions.stability.losses import LISTS

module = importlib.import_module("reproductions.stability.study")


@pytest.fixture
def told(monkeypatch):
    """The outcome for values that are made up, and its sections by their headings."""

    def tell(values, setting=None):
        monkeypatch.setattr(
            module, "study", replace(module.study, measure=lambda plan, setting: values)
        )
        for name in ("bounded_differences", "twin_distances"):  # which take a second
            monkeypatch.setattr(module, name, lambda values: Figure(b"", "drawn elsewhere"))
        monkeypatch.setattr(module.Plan, "of", classmethod(lambda cls, setting: PLAN))
        outcome = module.study(setting or Setting())
        return outcome, {section.heading: section for section in outcome.sections}

    return tell


def test_the_summary_compares_plain_ap_with_ours(told):
    def distance(name, n, steps):
        return {"SOPRC": 4.0, "plain AP": 3.0}.get(name, 1.0) * steps / n

    _, sections = told(measured(distance=distance))
    (said,) = sections["Summary"].paragraphs
    assert "plain AP has slope +0.00 in n, StableAP -1.00 over all sizes and -1.00 at" in said
    # After 20 steps, with 10 and with 40 positives.
    assert "SOPRC's ε⁺ goes from 8 at N⁺ = 10 to 2 at 40, slope -1.00" in said
    assert "Relative to the way gone it is 0.2 there, against 0.15 for plain AP" in said


def test_the_slopes_of_every_loss_stand_in_the_table(told):
    outcome, _ = told(measured())
    assert [row[0] for row in outcome.table.rows] == list(LISTS)
    rows = {row[0]: row[1:] for row in outcome.table.rows}
    assert rows["StableAP"] == ("-1.00",) * 5
    assert rows["SOPRC"] == ("-0.50", "-0.50", "-1.00", "-1.00", "-1.00")
    assert rows["plain AP"][:2] == ("+0.00", "+0.00")


def test_a_loss_that_never_changes_has_no_number_in_the_summary(told, tmp_path):
    still = measured(worst=lambda name, n: 0.0 if name == "SmoothAP" else 1 / n)
    outcome, _ = told(still)
    outcome.write(tmp_path)
    slopes = json.loads((tmp_path / "summary.json").read_text())["slopes"]
    assert slopes["SmoothAP"]["worst"] is None
    assert slopes["SmoothAP"]["typical"] == pytest.approx(-1)
    assert slopes["plain AP"]["worst"] == pytest.approx(-1)


def test_all_numbers_are_in_the_tables_and_in_the_rows(told):
    outcome, sections = told(measured())
    changes, twins = sections["All numbers"].tables
    assert len(changes.rows) == len(LISTS) * len(PLAN.sizes)
    assert changes.rows[0] == ("StableAP", "100", "0.02", "separated", "3.0e-02 ± 1e-04")
    assert changes.rows[2][:3] == ("StableAP", "1,600", "0.0013")
    assert len(twins.rows) == len(LISTS) * len(PLAN.n_positives) * len(PLAN.steps)
    assert twins.rows[0] == (
        "StableAP", 10, 5, "5.0e-01 ± 1e-02", "2.5e-01 ± 1e-02", "5.0e-02 ± 1e-02",
        "2.5e-02 ± 1e-02",
    )  # fmt: skip
    parts = [row["part"] for row in outcome.rows]
    assert parts.count("bounded difference") == len(changes.rows)
    assert parts.count("twins") == len(twins.rows)
    first = next(row for row in outcome.rows if row["part"] == "twins")
    assert (first["positive"], first["positive_error"], first["positive_count"]) == (0.5, 0.01, 3)
    assert first["relative_negative"] == pytest.approx(0.025)


@pytest.mark.parametrize(("quick", "words"), [(False, "Seed 6. All"), (True, "Seed 6, a quick")])
def test_what_was_done_has_the_numbers_of_the_plan(told, quick, words):
    _, sections = told(measured(), Setting(seed=6, quick=quick))
    said = sections["Method"].paragraphs
    assert said[0].startswith(words)
    assert "lists of 100 to 1,600 scores" in said[1]
    assert "4 random lists" in said[1]
    assert "9 negatives to a positive, batches of 8 + 24" in said[2]
    assert "3 data sets, in each 8 replaced positives" in said[2]
