"""Sentences follow the numbers: other numbers, other words."""

from __future__ import annotations

import pytest
from tests.reproductions.generalization.made_up import measured

from reproductions.frame import Setting
from reproductions.generalization import words
from reproductions.generalization.analysis import against_plain_ap, bounded
from reproductions.generalization.problems import Gaussian
from reproductions.generalization.study import report

NAME = Gaussian().name


def test_slopes_and_rates_are_said():
    said = words.of_slopes(measured(), Gaussian(), "lists")
    assert "1/N⁺ + 1/N⁻ has the slope -1.00 over these sizes and its square root -0.50" in said
    assert "The expected gap has slopes from -1.00" in said
    assert "is below the second in 9 of 9 losses" in said
    slow = words.of_slopes(measured(lambda loss, size: size**-0.25), Gaussian(), "lists")
    assert "The expected gap has slopes from -0.25" in slow
    assert "is below the second in 0 of 9 losses" in slow


def test_a_gap_that_is_not_positive_is_named():
    said = words.of_slopes(
        measured(lambda loss, size: -0.1 if loss == "AUC" else 1 / size), Gaussian(), "lists"
    )
    assert "No slope, as a mean is not positive: AUC." in said
    assert "of 8 losses" in said


@pytest.mark.parametrize(("metric", "numbers"), [(-0.1, (6, 0, 6, 0)), (0.1, (0, 6, 0, 6))])
def test_the_comparison_with_plain_ap_goes_both_ways(metric, numbers):
    paired = against_plain_ap(measured(metric=metric), ["StableAP"])
    said = words.of_pairs(paired, NAME, "StableAP")
    smaller, larger, lower, higher = numbers
    assert f"at {smaller} of 6 sizes and larger at {larger}" in said
    assert f"is lower at {lower} and higher at {higher}" in said


def test_vacuous_bounds_are_counted():
    lemma, second, third = words.of_stable_ap(bounded(measured()), 2)
    assert "times the range of the loss (0.90): vacuous at 4 of 4 sizes" in lemma
    assert "exceeds 1 at 0 of 4 sizes" in second  # (q²/2) · 0.2 = 0.67
    assert "The bound holds in 8 of 8 samples" in second
    assert "vacuous at 4 of 4 sizes" in third


@pytest.mark.parametrize(
    ("bound", "vacuous", "above"), [(0.1, "vacuous at 0 of 1", 0), (5.0, "vacuous at 1 of 1", 0),
                                    (0.01, "vacuous at 0 of 1", 5)]
)  # fmt: skip
def test_theorem_1_is_compared_with_the_gap_and_the_range(bound, vacuous, above):
    each, checked = words.of_twins(measured(bound=bound).twins)
    assert each.startswith(f"SOPRC: {vacuous} sizes; at N⁺ = 16 the bound is {bound:.2g}")
    assert f"above the bound in {above} of 5 rows" in checked


def test_the_constant_of_pap_is_what_the_samples_allow():
    said = words.of_pap(bounded(measured()))
    assert "The largest gap of 1 − pAp@k over all samples and surrogates is 0.1" in said


def test_every_number_is_in_the_report():
    values = measured()
    found = report(values.plan, values, Setting(seed=5, quick=True))
    sections = {section.heading: section for section in found.sections}
    assert sections["Method"].paragraphs[0].startswith("Seed 5, a quick run.")
    (cells,) = sections["All numbers"].tables
    assert len(cells.rows) == len(values.cells)
    assert cells.rows[0][4:] == ("0.200", "0.700", "+0.5000 ± 0.0000", "0.5000 ± 0.0000")
    parts = [row["part"] for row in found.rows]
    assert parts.count("gap") == len(values.cells)
    assert parts.count("twins") == len(values.twins)
    assert parts.count("bound") == len(values.complexities)
    assert [row[0] for row in found.table.rows][:2] == ["SOPRC", "StableAP"]
